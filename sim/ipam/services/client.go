package services

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"syscall"

	"ipamsim/sim"
	"ipamsim/sim/kube"
)

// pick says which API server a request goes to, of those that are ready: the one of a name,
// or one that the schedule chooses as a load balancer does.
func (i *instance) pick(g *sim.Gate, name string) func(context.Context) (*kube.Peer, error) {
	return func(ctx context.Context) (*kube.Peer, error) {
		i.mu.Lock()
		all := slices.Clone(i.servers)
		all = slices.DeleteFunc(all, func(s *server) bool {
			return !s.ready || name != "" && string(s.name) != name
		})
		i.mu.Unlock()
		switch len(all) {
		case 0:
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
		case 1:
			return all[0].Peer, nil
		}
		n, err := g.Draw(ctx, serverName, len(all))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", serverName, err)
		}
		return all[n].Peer, nil
	}
}
