package whereabouts

import (
	"context"
	"sync"
	_ "unsafe" // for linkname

	"ipamsim/sim"
	"ipamsim/sim/ipam/whereabouts/upstream/pkg/controlloop"
)

// newPodController makes the daemon's controller and starts its informers.
//
//go:linkname newPodController ipamsim/sim/ipam/whereabouts/upstream/cmd/controlloop.newPodController
func newPodController(stop chan struct{}) (*controlloop.PodController, error)

// podControlLoop is the daemon of a node until ctx ends. It returns an error if
// its node does not exist, on which the real one exits.
//
// Upstream's main sends a signal on the channel that it should close: one of the goroutines
// that wait for it to be closed takes the signal, and the others run on until SIGKILL, unless
// it is main.
//
// Source: cmd/controlloop/controlloop.go (v0.9.4).
func (i *instance) podControlLoop(ctx context.Context, g *sim.Gate, node string) (err error) {
	p := i.program(ctx, g, loopName, node)
	end := p.Run(func() {
		stop := make(chan struct{})
		ends := sync.OnceFunc(func() { close(stop) })
		defer ends()
		context.AfterFunc(ctx, ends)
		g.OnTerm(func() {
			select {
			case stop <- struct{}{}:
			default:
			}
		})
		controller, failed := newPodController(stop)
		if failed != nil {
			err = failed
			return
		}
		controller.Start(stop)
		defer controller.Shutdown()
		<-stop
		err = ctx.Err()
	})
	if err != nil {
		return err
	}
	return ended(p.Name, end)
}
