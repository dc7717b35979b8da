package action

import (
	"context"
	"fmt"
	"strings"

	"ipamsim/sim"
	"ipamsim/sim/cluster"
)

// Kill ends one process at once, by its actor's name.
type Kill struct {
	Actor string `json:"actor" jsonschema:"required"`
}

// Do sends SIGKILL. A kubelet comes back; without one its node would be healthy
// and start nothing for ever, which no address manager can be blamed for.
//
// Its pod workers are goroutines of it and cannot be killed by themselves.
func (a *Kill) Do(ctx context.Context, o *cluster.Operator) error {
	if name, ok := strings.CutPrefix(a.Actor, "kubelet/"); ok && strings.Contains(name, "/") {
		return fmt.Errorf("%s is a part of its kubelet: kill that", a.Actor)
	}
	return o.Cluster.Kill(ctx, sim.ActorID(a.Actor))
}

func (a *Kill) String() string { return "kill -9 " + a.Actor }
