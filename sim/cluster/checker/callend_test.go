package checker

import (
	"testing"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
)

// A kubelet waits for executions of the plugin; all other processes of a manager run in the
// background.
func TestBackground(t *testing.T) {
	for id, want := range map[sim.ActorID]bool{
		"cni-add/default/web-0/net1": false, "cni-add/default/web-0/net1~2": false, "cni-del/default/web-0/net1": false,
		"ip-reconciler~2": true, "kube-controllers": true, "cni-addition/a": true,
	} {
		if got := background(id); got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
}

// What disturbs one call leaves the others alone.
func TestDisturb(t *testing.T) {
	c := &Checker{}
	c.truth.init()
	for _, id := range []string{"c1", "c2"} {
		c.calls[id] = &Call{Call: ipam.Call{Container: id}}
	}
	c.disturb(func(b *Call) bool { return b.Call.Container == "c1" })
	if !c.calls["c1"].disturbed || c.calls["c2"].disturbed {
		t.Errorf("c1 %v, c2 %v, want c1 only", c.calls["c1"].disturbed, c.calls["c2"].disturbed)
	}
}
