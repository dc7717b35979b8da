package space

import (
	"slices"

	"ipamsim/scenarios"
	"ipamsim/sim"
)

// Of a hundred worlds that seeds draw, so many have nothing of a kind whatever else
// was drawn, besides those that have nothing of it by chance. A manager has the fewest
// excuses for what fails there.
const (
	Unattended = 25 // no operator's deed
	Unhurt     = 25 // neither a fault nor a crash
)

// spared draws which deeds a world goes without. It is drawn from a stream of its own,
// so that the rest of a world is what it would be otherwise.
func spared(c *Choices) (out []Deed) {
	own := c.fork(ofDeeds)
	if own.Chance(Unattended, 100) {
		out = append(out, Operator)
	}
	if own.Chance(Unhurt, 100) {
		out = append(out, Fault, Crash)
	}
	return out
}

// leaveOut takes deeds out of a world; the rest stays as it was drawn.
func leaveOut(s *scenarios.Spec, deeds []Deed) {
	out := func(d Deed) bool { return slices.Contains(deeds, d) }
	never := map[string]bool{} // machines that now do not come
	s.Timeline = slices.DeleteFunc(s.Timeline, func(e scenarios.Event) bool {
		gone := out(deedOf(e))
		if o := applies(e); gone && o.Kind == "Node" {
			never[o.Metadata.Name] = true
		}
		return gone
	})
	s.Timeline = slices.DeleteFunc(s.Timeline, func(e scenarios.Event) bool { return e.PowerOn != nil && never[e.PowerOn.Node] })
	if out(Force) {
		persuade(s)
	}
	if f := &s.Faults; f.Max > 0 && (out(Fault) || out(Crash)) {
		for o := sim.FailBefore; o <= sim.Crash; o++ {
			if o == sim.Crash && out(Crash) || o != sim.Crash && out(Fault) {
				f.Allowed = slices.DeleteFunc(f.Allowed, func(name string) bool { return name == o.String() })
				delete(f.Rates, o.String())
			}
		}
		if len(f.Allowed) == 0 {
			*f = scenarios.Faults{}
		}
	}
	if h := &s.Hazards; h.Max > 0 && (out(Operator) || out(Fault) || out(Crash)) {
		if len(h.Kinds) == 0 { // all that this cluster can have, which loading decides
			h.Kinds = slices.Clone(machineHazards)
		}
		h.Kinds = slices.DeleteFunc(h.Kinds, func(kind string) bool { return out(ofAction[kind]) })
		if len(h.Kinds) == 0 {
			*h = scenarios.Hazards{}
		}
	}
}

// persuade makes every deletion by force one that asks the kubelet.
func persuade(s *scenarios.Spec) {
	for _, e := range s.Timeline {
		if e.Delete != nil {
			e.Delete.Force = false
		}
		if e.Drain != nil {
			e.Drain.Force = false
		}
	}
	for i := range s.Churn {
		s.Churn[i].Force = 0
	}
}

// Tally counts worlds by what cannot happen in them.
type Tally struct {
	Worlds  uint64
	Without map[Deed]uint64 `json:",omitempty"`
	Quiet   uint64          `json:",omitempty"` // no deed of any kind
}

// Add a world in which these deeds can happen.
func (t *Tally) Add(deeds []Deed) {
	one := Tally{Worlds: 1, Without: map[Deed]uint64{}}
	for _, d := range Deeds() {
		if !slices.Contains(deeds, d) {
			one.Without[d] = 1
		}
	}
	if len(deeds) == 0 {
		one.Quiet = 1
	}
	t.Merge(one)
}

// Merge adds the worlds of another tally.
func (t *Tally) Merge(o Tally) {
	if t.Without == nil {
		t.Without = map[Deed]uint64{}
	}
	t.Worlds += o.Worlds
	t.Quiet += o.Quiet
	for _, d := range Deeds() {
		t.Without[d] += o.Without[d]
	}
}
