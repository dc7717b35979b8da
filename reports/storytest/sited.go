package storytest

import (
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/sim"
)

// sited is issue162 with call sites: the reconciler's messages are sent from two places,
// all the others from none that is known.
func Sited() *reports.Report {
	r := Issue162()
	read, write := sim.Stack{1}, sim.Stack{2}
	for _, s := range r.Trace.Steps {
		if s.Choice.Op.Actor.Kind() != "ip-reconciler" {
			continue
		}
		if s.Stack = read; s.Choice.Op.Kind == sim.Write {
			s.Stack = write
		}
	}
	r.Sites = func(s sim.Stack) model.CallSite {
		const up = "github.com/a/up"
		frames := [][]model.Frame{
			{{Function: up + "/store.(*Client).GetPod", File: "store/client.go", Line: 113}, {Function: up + "/loop.Loop.refresh", File: "loop/loop.go", Line: 140}},
			{{Function: up + "/store.(*Pool).Update", File: "store/pool.go", Line: 231}, {Function: up + "/store.retry", File: "store/pool.go", Line: 20}, {Function: up + "/loop.Loop.Free", File: "loop/loop.go", Line: 200}},
		}
		return model.CallSite{Module: up + "@v1", Frames: frames[s[0]-1]}
	}
	return r
}

// Raced returns a run with simulated races. Without them the timeline omits step 70.
func Raced() *reports.Report {
	r := Sited()
	of := r.Violations[0].Invariant
	r.Races = []model.Race{
		{Invariant: "leaked-claim", Read: 61, Change: 62, Use: 63},
		{Invariant: of, Read: 62, Change: 82, Use: 93},
		{Invariant: of, Read: 70, Change: 82, Use: 93},
		{Invariant: of, Code: "another-kind", Read: 61, Change: 62, Use: 63},
	}
	return r
}
