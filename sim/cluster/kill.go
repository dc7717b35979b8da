package cluster

import (
	"context"
	"fmt"
	"strings"

	"ipamsim/sim"
)

// Kill ends one process at once. A kubelet takes its pod workers along and comes back
// after a while, for which Kill waits.
func (c *Cluster) Kill(ctx context.Context, id sim.ActorID) error {
	if !c.World.Kill(id) {
		return fmt.Errorf("no process %q", id)
	}
	name, kubelet := strings.CutPrefix(string(id), "kubelet/")
	if n := c.node(name); n != nil && kubelet && n.kubelet != nil {
		n.kubelet.die()
		return n.kubelet.restart(ctx)
	}
	return nil
}
