package cluster

import (
	"context"
	"fmt"
	"strings"

	"ipamsim/sim"
)

// Kill ends one process at once, by its actor's name.
type Kill struct {
	Actor string `json:"actor" jsonschema:"required"`
}

// Do sends SIGKILL. A kubelet comes back; without one its node would be healthy
// and start nothing for ever, which no address manager can be blamed for.
//
// Its pod workers are goroutines of it and cannot be killed by themselves.
func (a *Kill) Do(ctx context.Context, o *Operator) error {
	if name, ok := strings.CutPrefix(a.Actor, "kubelet/"); ok && strings.Contains(name, "/") {
		return fmt.Errorf("%s is a part of its kubelet: kill that", a.Actor)
	}
	if !o.c.w.Kill(sim.ActorID(a.Actor)) {
		return fmt.Errorf("no process %q", a.Actor)
	}
	name, _ := strings.CutPrefix(a.Actor, "kubelet/")
	if n := o.c.node(name); n != nil && name != a.Actor && n.kubelet != nil {
		n.kubelet.die()
		return n.kubelet.restart(ctx)
	}
	return nil
}

func (a *Kill) String() string { return "kill -9 " + a.Actor }
