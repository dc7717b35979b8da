package answer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ipamsim/model/capacity"
	"ipamsim/model/capacity/workload"
	"ipamsim/reports"
	"ipamsim/reports/answer/words"
)

// Migration is the result of the migration from the running cluster to a row's option.
type Migration struct {
	Steps []MigrationStep `json:"steps"`
	// Done counts the trials in which it finished. Hours is the median duration, null if it
	// exceeds the horizon.
	Done   int    `json:"done"`
	Trials int    `json:"trials"`
	Hours  Number `json:"hours"`
	// Restarted counts pods. Waiting and Blackholed are the maxima during the migration. All
	// are means over trials.
	Restarted  Number `json:"restarted"`
	Waiting    Number `json:"waiting"`
	Blackholed Number `json:"blackholed"`
	Text       string `json:"text"`
}

// MigrationStep is one step of a migration. Pool, CIDR and BlockSize (a prefix length) are
// those of the pool that is created, disabled or deleted.
type MigrationStep struct {
	Kind      workload.StepKind `json:"kind"`
	Pool      string            `json:"pool,omitempty"`
	CIDR      string            `json:"cidr,omitempty"`
	BlockSize int               `json:"blockSize,omitempty"`
	Stuck     int               `json:"stuck,omitempty"` // trials that did not get past it
	Why       string            `json:"why,omitempty"`   // the datastore's last reason

	text string
}

// migrationOf returns the migration of a cell, nil if its option needs none.
func migrationOf(p *Question, c *Trials) *Migration {
	if c.Cluster == nil || len(c.Cluster.Migration) == 0 {
		return nil
	}
	m := &Migration{}
	for i := range c.Cluster.Migration {
		m.Steps = append(m.Steps, p.Manager.step(&c.Cluster.Migration[i]))
	}
	var hours, restarted, waiting, blackholed []float64
	for _, l := range c.Courses {
		if l == nil || l.Migration == nil {
			continue
		}
		m.Trials++
		way := l.Migration
		if way.End == capacity.Never {
			hours = append(hours, math.Inf(1))
			m.stuck(way)
		} else {
			m.Done++
			hours = append(hours, way.End.Hours())
		}
		restarted = append(restarted, float64(way.Restarted()))
		waiting, blackholed = append(waiting, float64(way.Worst.Waiting)), append(blackholed, float64(way.Worst.Blackholed))
	}
	mean := func(values []float64) Number {
		v, _, _ := Mean(values)
		return Number(v)
	}
	slices.Sort(hours)
	m.Hours, m.Restarted, m.Waiting, m.Blackholed = Number(Quantile(hours, 0.5)), mean(restarted), mean(waiting), mean(blackholed)
	return m
}

// stuck records the step at which a trial's migration stopped.
func (m *Migration) stuck(way *capacity.Migration) {
	for i := range min(len(way.Steps), len(m.Steps)) {
		if way.Steps[i].End == capacity.Never {
			m.Steps[i].Stuck++
			m.Steps[i].Why = reports.Clean(way.Steps[i].Why)
		}
	}
}

// step renders a step as an instruction.
func (m *Manager) step(s *workload.Step) MigrationStep {
	out := MigrationStep{Kind: s.Kind, Pool: reports.Clean(s.Pool)}
	if s.CIDR.IsValid() {
		out.CIDR, out.BlockSize = s.CIDR.String(), s.BlockBits
	}
	switch {
	case s.Kind == workload.RestartPods:
		var in []string
		for _, p := range s.Pools {
			in = append(in, p.String())
		}
		out.text = "restart the pods of " + words.List(in) + " one by one"
	case m.Step != nil:
		out.text = reports.Clean(m.Step(s))
	default:
		out.text = strings.TrimSpace(string(s.Kind) + " " + out.Pool)
	}
	return out
}

// describe sets the text of a row's migration.
func (a *Answer) describe(r *Row) {
	m := r.Migration
	if m == nil {
		return
	}
	var steps []string
	for i := range m.Steps {
		steps = append(steps, m.Steps[i].text)
	}
	s := fmt.Sprintf("Migration to %s (simulated): %s.", words.Quoted(r.Name), strings.Join(steps, "; "))
	if m.Done > 0 {
		s += fmt.Sprintf(" It takes %s (median) and restarts %s; during it at most %s waiting and %s blackholed.",
			hoursText(float64(m.Hours)), amount(m.Restarted, "pod"), amount(m.Waiting, "pod"), amount(m.Blackholed, "pair"))
	}
	for i := range m.Steps {
		x := &m.Steps[i]
		if x.Stuck == 0 {
			continue
		}
		s += fmt.Sprintf(" In %d of %s it stopped at step %d, %s", x.Stuck, words.Plural(m.Trials, "trial"), i+1, words.Quoted(x.text))
		if x.Why != "" {
			s += ", which was refused until the end: " + x.Why
		}
		s += "."
	}
	m.Text = s
}

func amount(v Number, what string) string {
	if v == 1 {
		return "1 " + what
	}
	return words.Few(float64(v)) + " " + what + "s"
}

// hoursText renders a time in a suitable unit.
func hoursText(h float64) string {
	switch {
	case h < 1./60:
		return words.Few(3600*h) + " s"
	case h < 1:
		return words.Few(60*h) + " min"
	case h < 48:
		return words.Few(h) + " h"
	}
	return words.Few(h/24) + " d"
}

// Ways returns the texts of the rows' migrations, unfinished ones first, then in the order of
// rows.
func (a *Answer) Ways(wanted func(n int) bool) (out []string) {
	for _, ended := range []bool{false, true} {
		for n := range a.Rows {
			if m := a.Rows[n].Migration; m != nil && m.Trials > 0 && (m.Done == m.Trials) == ended && wanted(n) {
				out = append(out, m.Text)
			}
		}
	}
	return out
}

// Beginning is a measure of the running cluster at the start. It is reported separately and
// no bound applies to it.
type Beginning struct {
	Measure string `json:"measure"`
	Value   Number `json:"value"`
}

// beginning returns the measures at the start that are not 0, of those reported at worst. They
// are equal in all trials.
func (a *Answer) beginning() (out []Beginning) {
	for n := range a.Question.Cells {
		c := &a.Question.Cells[n]
		for _, l := range c.Courses {
			if l == nil || l.Since == 0 || len(l.Samples) == 0 {
				continue
			}
			first := &capacity.Course{Exhausted: capacity.Never, Samples: l.Samples[:1]}
			for _, m := range a.Question.Manager.measures() {
				if v := m.of(c, first); m.When == AtWorst && m.Better == Less && m.Unit != Prefixes && m.Unit != Blocks && v > 0 {
					out = append(out, Beginning{m.Name, Number(v)})
				}
			}
			return out
		}
	}
	return nil
}

// Since states from which time trials count, and the measures at the start.
func (a *Answer) Since() string {
	var from []float64
	for n := range a.Rows {
		if h := float64(a.Rows[n].SinceHours); h > 0 && !math.IsInf(h, 0) {
			from = append(from, h)
		}
	}
	if len(from) == 0 {
		return ""
	}
	slices.Sort(from)
	first, last := hoursText(from[0]), hoursText(from[len(from)-1])
	s := "Numbers and bounds cover the time from " + first + " on"
	if first != last {
		s = fmt.Sprintf("Numbers and bounds cover the time from %s to %s on, by row", first, last)
	}
	if a.Question.From != "" {
		s += ", when the option is in place and the cluster has settled"
	}
	s += "."
	var parts []string
	for _, b := range a.Beginning {
		m := a.Measure(b.Measure)
		if m != nil && !m.aside {
			parts = append(parts, m.Column()+" "+a.Say(m.Unit, float64(b.Value)))
		}
	}
	if len(parts) > 0 {
		s += " Reported separately, at the start: " + words.List(parts) + "."
	}
	return s
}

// sinceOf returns the time from which the trials of a cell count, the median in hours; 0: from
// the start, infinite: never.
func sinceOf(c *Trials) Number {
	var all []float64
	for _, l := range c.Courses {
		switch {
		case l == nil:
		case l.Since == capacity.Never:
			all = append(all, math.Inf(1))
		default:
			all = append(all, l.Since.Hours())
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return Number(Quantile(all, 0.5))
}
