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

// Migration is what became of the way to a row's option, from the cluster that runs
// at the beginning.
type Migration struct {
	Steps []MigrationStep `json:"steps"`
	// Done is in how many lives it was, and Hours after how long: the median. Null: not
	// within the horizon.
	Done   int    `json:"done"`
	Trials int    `json:"lives"`
	Hours  Number `json:"hours"`
	// Restarted pods, and what was seen on the way at worst: means over lives.
	Restarted  Number `json:"restarted"`
	Waiting    Number `json:"waiting"`
	Blackholed Number `json:"blackholed"`
	Text       string `json:"text"`
}

// MigrationStep is one step of it. Pool, CIDR and BlockSize (a prefix length) are of
// the pool that is created, disabled or deleted.
type MigrationStep struct {
	Kind      workload.StepKind `json:"kind"`
	Pool      string            `json:"pool,omitempty"`
	CIDR      string            `json:"cidr,omitempty"`
	BlockSize int               `json:"blockSize,omitempty"`
	Stuck     int               `json:"stuck,omitempty"` // lives that never came further
	Why       string            `json:"why,omitempty"`   // the datastore's last reason there

	text string
}

// migrationOf a cell, nil if there is nothing to be done for its option.
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

// stuck notes where the way of a life ended.
func (m *Migration) stuck(way *capacity.Migration) {
	for i := range min(len(way.Steps), len(m.Steps)) {
		if way.Steps[i].End == capacity.Never {
			m.Steps[i].Stuck++
			m.Steps[i].Why = reports.Clean(way.Steps[i].Why)
		}
	}
}

// step in words, as an instruction.
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

// tell fills in the text of a row's migration.
func (a *Answer) tell(r *Row) {
	m := r.Migration
	if m == nil {
		return
	}
	var steps []string
	for i := range m.Steps {
		steps = append(steps, m.Steps[i].text)
	}
	s := fmt.Sprintf("The way to %s, simulated: %s.", words.Quoted(r.Name), strings.Join(steps, "; "))
	if m.Done > 0 {
		s += fmt.Sprintf(" Done after %s (median), %s restarted; on the way at worst %s waiting and %s blackholed.",
			hoursText(float64(m.Hours)), amount(m.Restarted, "pod"), amount(m.Waiting, "pod"), amount(m.Blackholed, "pair"))
	}
	for i := range m.Steps {
		x := &m.Steps[i]
		if x.Stuck == 0 {
			continue
		}
		s += fmt.Sprintf(" In %d of %s it ended at step %d, %s", x.Stuck, words.Plural(m.Trials, "trial"), i+1, words.Quoted(x.text))
		if x.Why != "" {
			s += ", refused to the end: " + x.Why
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

// hoursText is a time in the unit that people would use.
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

// Ways are the texts of the rows' migrations: those that did not end first, then in
// the order of rows.
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

// Beginning is what a measure is at the beginning, of a cluster that runs: it is told
// apart, and in no bound.
type Beginning struct {
	Measure string `json:"measure"`
	Value   Number `json:"value"`
}

// beginning is what there is before anything happens, the same in all lives: of what
// is counted at worst that which is not 0.
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

// Since says from when on lives count, and what was there before.
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
	s := "Numbers and bounds are of the time from " + first + " on"
	if first != last {
		s = fmt.Sprintf("Numbers and bounds are of the time from %s to %s on, by row", first, last)
	}
	if a.Question.From != "" {
		s += ": when an option has been carried out and the cluster has settled"
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
		s += " At the beginning, reported separately: " + words.List(parts) + "."
	}
	return s
}

// sinceOf a cell is from when on its lives count, the median in hours; 0 is from the
// beginning, and infinite is never.
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
