package finding

import (
	"fmt"
	"slices"
	"strings"

	"ipamsim/fuzz/cause"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/reports/timeline"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// New returns the finding of a shrunk run: rep is the run of s under strategy.Sparse with the exceptions in
// rules, v its violation, and why the cause. YAML is not set yet: see Write.
func New(s *scenarios.Scenario, rep *reports.Report, v *model.Violation, rules []strategy.Exception, why *cause.Cause) *Finding {
	f := &Finding{
		Fingerprint: why.Fingerprint(), Invariant: v.Invariant, Severity: v.Severity, Upstream: rep.Upstream,
		Cause: *why, Sentence: sentence(rep, v),
		Faults: faults(rep.History, v), Steps: len(rep.Trace.Steps), managers: s.Managers(),
	}
	f.Also = Others(rep, v, func(o *model.Violation) bool { return o.Step == v.Step })
	pods := map[model.PodRef]bool{}
	for _, e := range rep.History.Events {
		if e.Kind == model.AddBegin {
			pods[e.Pod] = true
		}
	}
	f.Pods = len(pods)
	for _, o := range s.Objects {
		if o.Kind == "Node" {
			f.Nodes++
		}
	}
	for _, e := range rules {
		if e.Outcome == sim.Delay || e.Before != (strategy.Message{}) {
			f.Switches++
		}
	}
	return f
}

// Others returns the invariants of a run's violations other than v's, sorted, for which take returns
// true.
func Others(rep *reports.Report, v *model.Violation, take func(*model.Violation) bool) []string {
	var out []string
	for i := range rep.Violations {
		if o := &rep.Violations[i]; o.Invariant != v.Invariant && take(o) {
			out = append(out, o.Invariant)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sentence summarizes the failure: the last turning points, then the violation.
func sentence(rep *reports.Report, v *model.Violation) string {
	turns := timeline.Turns(rep, v)
	turns = slices.Compact(turns[max(0, len(turns)-turnsMax):])
	if len(turns) == 0 {
		return v.Message
	}
	return strings.Join(append(turns, "so "+v.Message), "; ")
}

const (
	turnsMax     = 3
	commentWidth = 108
)

// Write sets YAML to the finding's file: the scenario with the recorded run, which replays on its own,
// below a comment that describes it.
func (f *Finding) Write(s *scenarios.Scenario, rep *reports.Report, v *model.Violation, rules []strategy.Exception) error {
	recorded := *rep
	recorded.Races = f.Cause.Races(v)
	body, err := s.Recorded(&recorded, rules).YAML()
	if err != nil {
		return err
	}
	file := File(f.Fingerprint)
	recorded.File, recorded.Strategy = file, "replay"
	var b strings.Builder
	comment := func(text string) {
		for line := range strings.Lines(text) {
			b.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
		}
	}
	comment(fmt.Sprintf("%s (%s), fingerprint %s\n", f.Invariant, f.Severity, f.Fingerprint))
	comment(strings.Join(layout.Wrap(f.Sentence, commentWidth), "\n") + "\n\n")
	comment("cause: " + strings.Join(f.Cause.Lines(), "\n       ") + "\n\n")
	comment(fmt.Sprintf("%s\n%d pods, %d nodes, %d forced switches, %d faults, %d steps\n", f.Upstream, f.Pods, f.Nodes, f.Switches, f.Faults, f.Steps))
	if f.Sampled > 0 {
		comment(fmt.Sprintf("%d of %d random continuations from its last decision fail, too\n", f.Failing, f.Sampled))
	}
	if len(f.Also) > 0 {
		comment("also: " + strings.Join(f.Also, ", ") + "\n")
	}
	comment("ipamsim replay " + file + "\n\n")
	comment(timeline.Of(&recorded, v))
	f.YAML = append([]byte(b.String()), body...)
	return nil
}
