package checker

import (
	"testing"
	"time"

	"ipamsim/model/invariant"
	"ipamsim/sim"
)

// A process spins that asks for one thing all the time and changes nothing. Who changes
// something with its writes is at work, though others' changes prove nothing of it.
func TestSpins(t *testing.T) {
	for _, x := range []struct {
		name    string
		writes  bool // the process writes twice in each window
		changes bool // and what is stored is another then
		others  bool // what is stored changes at each of its reads
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
