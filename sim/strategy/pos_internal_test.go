package strategy

import (
	"testing"

	"ipamsim/sim"
)

// Messages whose order cannot matter keep their priorities: two reads, steps that are no messages
// to a server, and messages about different objects.
func TestConflict(t *testing.T) {
	op := func(kind sim.OpKind, name string) sim.Op {
		return sim.Op{Kind: kind, Request: &sim.Request{Verb: "PUT", Path: "pods/default/" + name}}
	}
	for _, x := range []struct {
		a, b sim.Op
		want bool
	}{
		{op(sim.Write, "x"), op(sim.Write, "x"), true},
		{op(sim.Write, "x"), op(sim.Read, "x"), true},
		{op(sim.Read, "x"), op(sim.Read, "x"), false},
		{op(sim.Write, "x"), op(sim.Event, "x"), false},
		{op(sim.Write, "x"), op(sim.Write, "y"), false},
		{op(sim.Read, "x"), op(sim.Write, "y"), false},
	} {
		for _, pair := range [][2]sim.Op{{x.a, x.b}, {x.b, x.a}} {
			if got := conflict(pair[0], pair[1]); got != x.want {
				t.Errorf("%s %s and %s %s: %v", pair[0].Kind, pair[0].Request.Path, pair[1].Kind, pair[1].Request.Path, got)
			}
		}
	}
}
