package checker

import (
	"fmt"
	"testing"
	"time"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/sim"
)

// A process spins if it repeats one request and changes nothing. A process whose writes change
// something does not spin; changes by other processes do not matter.
func TestSpins(t *testing.T) {
	for _, x := range []struct {
		name    string
		writes  bool // the process writes twice in each window
		changes bool // the write changes the store
		others  bool // another process changes the store before each of its reads
		actor   sim.ActorID
		want    int
	}{
		{"it reads only", false, false, false, "reconciler", 1},
		{"its writes change nothing", true, false, false, "reconciler", 1},
		{"others' writes do", false, false, true, "reconciler", 1},
		{"its writes change something", true, true, false, "reconciler", 0},
		{"it is an execution of the plugin", false, false, false, "cni-add/default/web-0/net1", 0},
		{"it is none of the manager's", false, false, false, "kubelet/a", 0},
	} {
		c := &Checker{}
		c.truth.init()
		revision := int64(1)
		c.cfg.Revision = func() int64 { return revision }
		c.upstream = map[sim.ActorID]string{"reconciler": "", "cni-add/default/web-0/net1": "a"}
		step := func(at time.Duration, kind sim.OpKind) {
			s := &sim.Step{}
			s.At = at
			s.Choice.Op = sim.Op{Actor: x.actor, Kind: kind, Request: &sim.Request{Verb: "GET", Path: "pods/default/web-0"}}
			c.countSpins(s)
		}
		const often = invariant.SpinWindow / (2 * invariant.SpinTimes)
		for i := range 20 * invariant.SpinTimes {
			at := time.Duration(i) * often
			if x.others {
				revision++
			}
			step(at, sim.Read)
			if x.writes && i%invariant.SpinTimes == 0 {
				if x.changes {
					revision++
				}
				step(at, sim.Write)
			}
		}
		if got := len(c.spins.found); got != x.want {
			t.Errorf("%s: found %d, want %d", x.name, got, x.want)
		}
	}
}

// Processes undo each other's writes if they create one row of the record again and again. Rows
// with a new name each time, and writes of the plugin, do not count.
func TestUndone(t *testing.T) {
	const often = invariant.SpinWindow / (2 * invariant.UndoTimes)
	for _, x := range []struct {
		name  string
		actor sim.ActorID
		every time.Duration // a write that gives, or takes away
		other bool          // another Service each time
		want  int
	}{
		{"one row, back and forth", "controller", often, false, 1},
		{"a row for each of many Services", "controller", often, true, 0},
		{"seldom", "controller", 3 * often, false, 0},
		{"it is an execution of the plugin", "cni-add/default/web-0/net1", often, false, 0},
		{"it is none of the manager's", "operator", often, false, 0},
	} {
		c := &Checker{}
		c.truth.init()
		c.upstream = map[sim.ActorID]string{"controller": "", "cni-add/default/web-0/net1": "a"}
		for i := 0; time.Duration(i)*x.every < 2*invariant.SpinFor; i++ {
			service := "default/web"
			if x.other {
				service = fmt.Sprintf("default/web-%d", i)
			}
			before := len(c.ledger.Changes)
			c.ledger.Changes = append(c.ledger.Changes, model.Change{Row: model.RefAddress, Refs: []model.Ref{model.ServiceOf(service)}, Came: i%2 == 0, Gone: i%2 == 1})
			s := &sim.Step{}
			s.At = time.Duration(i) * x.every
			s.Choice.Op = sim.Op{Actor: x.actor, Kind: sim.Write}
			c.countUndone(s, before)
		}
		if got := len(c.spins.found); got != x.want {
			t.Errorf("%s: found %d, want %d", x.name, got, x.want)
		}
	}
}
