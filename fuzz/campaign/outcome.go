package campaign

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/coverage"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/known"
)

func (c *coordinator) progress() Progress {
	s := c.state
	p := Progress{
		Phase: "exploring", Elapsed: c.now(), Runs: s.runs, RunsMax: c.Runs, Rate: c.rate.now(time.Now()),
		States: s.states.Kinds(), Allocators: s.allocators.Kinds(), Pairs: len(s.pairs), Findings: len(s.findings), Open: len(s.open()), Unkept: s.unkept(),
	}
	if c.phase != queue.Exploring {
		p.Phase = "finishing"
	}
	if c.Time > 0 {
		p.Left = max(0, time.Until(c.deadline))
	}
	if c.Spec.Plan() {
		p.Phase, p.Left = "living", c.left(time.Now())
	} else if c.Runs > 0 && p.Rate > 0 {
		left := time.Duration(float64(c.Runs-min(c.Runs, s.runs)) / p.Rate * float64(time.Second))
		if c.Time == 0 || left < p.Left {
			p.Left = left
		}
	}
	return p
}

func (c *coordinator) outcome(why string) *Outcome {
	s := c.state
	o := &Outcome{
		Progress: c.progress(), Why: why, Busy: s.busy, Steps: s.steps, Unknown: s.unknown, Rows: c.rows(),
		Defects: s.defects, Defective: s.defective, Repeated: s.repeated, Caught: s.caught, Canaries: s.caught + s.missed,
		Worlds: s.worlds, UnseenStates: s.states.Unseen(), UnseenAllocators: s.allocators.Unseen(),
	}
	if c.Spec.Whole() {
		no := coverage.Unseen{Unknown: "schedules that are walked in order are no sample"}
		o.UnseenStates, o.UnseenAllocators = no, no
	}
	for _, d := range s.deaths {
		if !d.Confirmed {
			o.Deaths = append(o.Deaths, d)
		}
	}
	return o
}

// rows returns the rows of the table: in the order of cause.Triggers, then in the order in which they
// were first seen. Findings that are not shrunk come last.
func (c *coordinator) rows() []Row {
	var out []Row
	for _, fp := range slices.Sorted(maps.Keys(c.state.findings)) {
		f := c.state.findings[fp]
		r := Row{Finding: f.Finding, File: filepath.Join(c.Dir, finding.File(fp)), Rough: f.Rough}
		if name := finding.HistoryFile(fp); f.Objects[name] != "" {
			r.History = filepath.Join(c.Dir, name)
		}
		if name := finding.IssueFile(fp); f.Objects[name] != "" {
			r.Issue = filepath.Join(c.Dir, name)
		}
		r.Known = c.known(f)
		for i := range f.causes {
			r.Keys = append(r.Keys, known.Key(&f.causes[i]))
		}
		if name := finding.PageFile(fp); f.Objects[name] != "" {
			r.Page = filepath.Join(c.Dir, name)
		}
		for _, sig := range f.signatures {
			cl := c.state.classes[sig]
			if cl == nil {
				continue // seen only while another failure was shrunk
			}
			if r.Count += cl.Count; r.First == 0 || cl.First < r.First {
				r.First, r.FirstAfter = cl.First, cl.FirstAfter
			}
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b Row) int {
		return cmp.Or(number(a.Rough)-number(b.Rough), slices.Index(cause.Triggers, a.Cause.Trigger)-slices.Index(cause.Triggers, b.Cause.Trigger), cmp.Compare(a.First, b.First))
	})
	return out
}

// known returns the entry of the lists for a finding. The lists have full causes, and several
// may have the finding's name: it is new if any of them is on no list.
func (c *coordinator) known(f *found) string {
	if f.Rough || !c.Listed {
		return NotListed
	}
	for i := range f.causes {
		if c.Known.Cause(&f.causes[i]) == "" {
			return News
		}
	}
	return cmp.Or(c.Known.Cause(&f.Cause), News)
}

// rate is the number of runs per second in the last rateOver.
type rate struct{ marks []mark }

type mark struct {
	runs uint64
	at   time.Time
}

// rateOver is long enough for several shards.
const rateOver = 20 * time.Second

func (r *rate) begin(runs uint64, at time.Time) { r.marks = []mark{{runs, at}} }

func (r *rate) add(runs uint64, at time.Time) {
	r.marks = append(r.marks, mark{runs, at})
	for len(r.marks) > 2 && at.Sub(r.marks[0].at) > rateOver {
		r.marks = r.marks[1:]
	}
}

func (r *rate) now(at time.Time) float64 {
	first, last := r.marks[0], r.marks[len(r.marks)-1]
	d := at.Sub(first.at).Seconds()
	if d < 0.1 {
		return 0
	}
	return float64(last.runs-first.runs) / d
}
