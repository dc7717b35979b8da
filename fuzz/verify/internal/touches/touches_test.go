package touches

import (
	"net/netip"
	"slices"
	"testing"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/sim"
	"ipamsim/sim/por"
)

// A pool has one free address. While web-2's ADD is running, web-0 releases its address and web-1
// claims the free one; then web-2 is refused. If web-0's release came first, an address was free at
// all times of the ADD, and the refusal was wrong: SpuriousExhaustion. If web-1's claim came first,
// no address was free for a moment, and the refusal was right. So the order of the two steps
// matters although they touch no common thing.
func TestNumbersAreJudgedTogether(t *testing.T) {
	steps := func(refused string) []por.Step {
		pod := func(name string) model.PodRef { return model.PodRef{Namespace: "default", Name: name} }
		claim := func(n byte, name string) model.Claim {
			return model.Claim{Pool: "p", Addr: netip.AddrFrom4([4]byte{10, 0, 0, n}), Pod: pod(name), Container: "of " + name}
		}
		pools := []model.Pool{{Name: "p", Range: netip.MustParsePrefix("10.0.0.0/30")}}
		rep := &reports.Report{Ledger: &model.Ledger{}, History: &model.History{}, Trace: &sim.Trace{}}
		for i, claims := range [][]model.Claim{{claim(1, "web-0")}, {}, {claim(2, "web-1")}} {
			rep.Ledger.Note(i, model.Snapshot{Pools: pools, Claims: claims})
		}
		rep.History.Add(model.Event{Step: 3, Kind: model.AddEnd, Pod: pod("web-2"), Container: "of web-2", Err: refused, Exhausted: refused != "", MinFree: 1})
		l := &por.Log{Steps: make([]por.Step, 3)}
		Note(l, rep)
		return l.Steps
	}
	whole := func(s por.Step) bool { return slices.Contains(s.Touches, por.Whole) }
	if s := steps("no address left"); !whole(s[0]) || !whole(s[1]) || !whole(s[2]) {
		t.Errorf("a refusal: %+v; want that each touches everything", s)
	}
	s := steps("")
	if whole(s[0]) || whole(s[1]) || whole(s[2]) || slices.ContainsFunc(s[0].Touches, func(x string) bool { return slices.Contains(s[1].Touches, x) }) {
		t.Errorf("no refusal: %+v; want that strangers touch nothing in common", s)
	}
	if len(s[0].Touches) == 0 || len(s[1].Touches) == 0 {
		t.Errorf("%+v; want that a release and a claim touch something", s)
	}
}

// Steps about unrelated pods touch different things; an address joins them; handles always touch the whole.
func TestTouches(t *testing.T) {
	web := model.PodRef{Namespace: "default", Name: "web-0"}
	step := func(n int, resource string, o sim.Outcome) *sim.Step {
		put := sim.Op{Kind: sim.Write, Request: &sim.Request{Verb: "PUT", Resource: resource}}
		return &sim.Step{Decision: sim.Decision{Step: n, Choice: sim.Choice{Op: put, Outcome: o}}}
	}
	rep := &reports.Report{Ledger: &model.Ledger{}, History: &model.History{}, Trace: &sim.Trace{Steps: []*sim.Step{
		step(1, "pods", sim.Proceed), step(2, "nodes", sim.Proceed), step(3, "nodes", sim.FailBefore),
	}}}
	rep.History.Add(model.Event{Step: 1, Kind: model.AddBegin, Pod: web, Container: "a"})
	rep.History.Add(model.Event{Step: 3, Kind: model.Reconcile, Actor: "ip-reconciler"})
	l := &por.Log{Steps: make([]por.Step, 3)}
	Note(l, rep)
	want := [][]string{{"pod default/web-0", "container a"}, {por.Whole}, nil}
	for i, s := range l.Steps {
		if !slices.Equal(s.Touches, want[i]) {
			t.Errorf("step %d touches %v, want %v", i+1, s.Touches, want[i])
		}
	}
	rep.Ledger.Note(0, model.Snapshot{})
	rep.Ledger.Note(2, model.Snapshot{Handles: []model.Handle{{ID: "h"}}})
	l = &por.Log{Steps: make([]por.Step, 3)}
	Note(l, rep)
	if !slices.Equal(l.Steps[0].Touches, []string{por.Whole}) {
		t.Errorf("with handles step 1 touches %v, want everything", l.Steps[0].Touches)
	}
}
