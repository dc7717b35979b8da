package scenarios

import (
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"ipamsim/scenarios/strict"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/cluster/cron"
	"ipamsim/sim/ipam"
)

// passes and daemons are the names of a manager's processes, by how they run.
func passes(m *ipam.Manager) []string {
	return processes(m, func(p ipam.Process) bool { return !p.Daemon })
}

func daemons(m *ipam.Manager) []string {
	return processes(m, func(p ipam.Process) bool { return p.Daemon })
}

func processes(m *ipam.Manager, of func(ipam.Process) bool) (out []string) {
	for _, p := range m.Processes {
		if of(p) {
			out = append(out, p.Name)
		}
	}
	return out
}

// perNode reports whether a daemon runs once on each node; the others are deployments.
func perNode(m *ipam.Manager, daemon string) bool {
	p, _ := m.Process(daemon)
	return p.PerNode
}

// Upstream is the module@version that the scenario runs, and what of ours runs in
// its place.
func (s *Scenario) Upstream() string {
	name := s.Manager().Upstream
	if ours := s.References(); len(ours) > 0 {
		name += " with ipamsim's " + strings.Join(ours, " and ") + ", which is not upstream's code"
	}
	return name
}

// References are the scenario's processes that are our own code and stand where
// upstream's would, sorted.
func (s *Scenario) References() []string {
	var out []string
	for _, r := range s.Doc.Spec.Reconcilers {
		out = append(out, r.Name)
	}
	for _, e := range s.Doc.Spec.Timeline {
		if a, ok := e.Action.(*action.Reconcile); ok {
			out = append(out, a.Name)
		}
	}
	out = slices.DeleteFunc(out, func(name string) bool {
		p, _ := s.Manager().Process(name)
		return !p.Reference
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// badRole describes an invalid name; "" if it is valid. what is reconciler or daemon; other are the names of
// the other sort.
func badRole(name, manager, what string, known, other []string) string {
	for _, n := range known {
		if n == name {
			return ""
		}
	}
	for _, n := range other {
		if n == name && what == "reconciler" {
			return name + " runs all the time: list it under spec.daemons"
		} else if n == name {
			return name + " runs on a schedule: list it under spec.reconcilers"
		}
	}
	return manager + " has no " + what + " " + strict.Quote(name) + ", " + strict.Want(name, known)
}

// badSchedule describes an invalid cron expression; "" if it is valid.
func badSchedule(s string) string {
	switch {
	case s == "":
		return `missing, want e.g. "*/5 * * * *" or "@every 30s"`
	case strings.HasPrefix(s, "TZ=") || strings.HasPrefix(s, "CRON_TZ="): // and the parser panics on some
		return "a time zone is not supported, virtual time is UTC"
	}
	if every, ok := strings.CutPrefix(s, "@every "); ok {
		if d, err := time.ParseDuration(every); err == nil && d < time.Second {
			return strict.Quote(s) + " is too often for cron: want at least 1s"
		}
	}
	next := time.Time{}
	err := guard(func() error {
		sched, err := cron.Parse(s)
		if err == nil {
			next = sched.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) // when every bubble begins
		}
		return err
	})
	switch {
	case err != nil:
		return strict.Quote(s) + ` is not a cron expression, want e.g. "*/5 * * * *" or "@every 30s": ` + strict.OneLine(err)
	case next.IsZero():
		return strict.Quote(s) + " never comes"
	}
	return ""
}

// cronJob turns a CronJob that starts passes of one of the manager's reconcilers, as users
// have it, into an entry of spec.reconcilers. It reports whether it is one; any
// other CronJob is stored and nothing starts it.
func (l *loader) cronJob(d *strict.Doc) (bool, error) {
	var j batchv1.CronJob
	if err := d.Decode(d.Root, &j, nil); err != nil {
		return false, err
	}
	name := l.startedBy(&j)
	if name == "" || j.Spec.Suspend != nil && *j.Spec.Suspend {
		return false, nil
	}
	if problem := badSchedule(j.Spec.Schedule); problem != "" {
		return true, d.FailAt(at("spec", "schedule"), "%s", problem)
	}
	if tz := j.Spec.TimeZone; tz != nil && *tz != "UTC" && *tz != "Etc/UTC" {
		return true, d.FailAt(at("spec", "timeZone"), "virtual time is UTC, so want Etc/UTC or nothing")
	}
	r := Reconciler{Name: name, Schedule: j.Spec.Schedule, Overlap: cron.Overlap(j.Spec.ConcurrencyPolicy)}
	switch r.Overlap {
	case "", cron.Allow, cron.Forbid, cron.Replace:
	default:
		return true, d.FailAt(at("spec", "concurrencyPolicy"), "%s is not known, want Allow, Forbid or Replace", strict.Quote(string(r.Overlap)))
	}
	if n := j.Spec.JobTemplate.Spec.Parallelism; n != nil && *n > 1 {
		if *n > action.PassesMax {
			return true, d.FailAt(at("spec", "jobTemplate", "spec", "parallelism"), "want at most %d", action.PassesMax)
		}
		r.Count = int(*n)
	}
	l.s.Doc.Spec.Reconcilers = append(l.s.Doc.Spec.Reconcilers, r)
	return true, nil
}

// startedBy returns the reconciler whose passes a CronJob starts, or "".
func (l *loader) startedBy(j *batchv1.CronJob) string {
	for _, p := range l.ipam.Processes {
		for _, c := range j.Spec.JobTemplate.Spec.Template.Spec.Containers {
			if p.CronJob != "" && strings.Contains(strings.Join(append(c.Command, c.Args...), " "), p.CronJob) {
				return p.Name
			}
		}
	}
	return ""
}
