package whereabouts

import (
	"context"

	reference "ipamsim/model/reference/whereabouts"
	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/whereabouts/upstream/pkg/reconciler"
)

// processes are upstream's three background processes, and behind them ours.
//
//   - ip-reconciler: one pass. Upstream runs passes by cron, 30 4 * * * by default,
//     in one deployment without leader election; a pass does not wait for the one
//     before it. Users of older releases have a CronJob that starts it.
//   - pod-control-loop: the daemon on each node.
//   - node-slice-controller: the daemon that cuts node slices, one in a cluster,
//     also without leader election.
//
// Source: doc/crds/reconciler-deployment.yaml, daemonset-install.yaml,
// node-slice-controller.yaml (v0.9.4).
func processes() []ipam.Process {
	out := append([]ipam.Process{
		{Name: passName, CronJob: passName, ClientGo: clientGo},
		{Name: loopName, PerNode: true, Daemon: true, ClientGo: clientGo},
	}, slicing...)
	for _, rule := range reference.Rules() {
		out = append(out, ipam.Process{Name: referenceName(rule), Reference: true})
	}
	return out
}

// clientGo is the release of client-go that Whereabouts is built with.
//
// Source: go.mod (v0.9.4).
const clientGo = "0.34"

// The names of upstream's processes.
const (
	passName   = "ip-reconciler"
	loopName   = "pod-control-loop"
	slicesName = "node-slice-controller"
)

// run is the code of the processes.
func (i *instance) run() map[string]ipam.Run {
	out := map[string]ipam.Run{passName: i.reconcile, loopName: i.podControlLoop, slicesName: i.nodeSliceController}
	for _, rule := range reference.Rules() {
		out[referenceName(rule)] = i.reference(rule)
	}
	return out
}

// reconcile is one pass of the ip-reconciler, as upstream's cron starts it. A pass that fails to
// clean one pool does not process the other pools and the reservations, because upstream returns
// early.
//
// Source: cmd/reconciler/main.go (v0.9.4).
func (i *instance) reconcile(ctx context.Context, g *sim.Gate, node string) error {
	failed := make(chan error, 1)
	p := i.program(ctx, g, passName, node)
	if err := ended(p.Name, p.Run(func() { reconciler.ReconcileIPs(failed) })); err != nil {
		return err
	}
	return <-failed
}
