package whereabouts

import (
	"context"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/whereabouts/upstream/pkg/reconciler"
)

// Reconcilers are upstream's three background processes, and behind them ours.
//
//   - ip-reconciler: one pass. Upstream runs passes by cron, 30 4 * * * by default,
//     in one deployment without leader election; a pass does not wait for the one
//     before it.
//   - pod-control-loop: the daemon on each node.
//   - node-slice-controller: the daemon that cuts node slices, one in a cluster,
//     also without leader election.
//
// Source: doc/crds/reconciler-deployment.yaml, daemonset-install.yaml,
// node-slice-controller.yaml (v0.9.4).
func (i *instance) Reconcilers() []ipam.Reconciler {
	return append([]ipam.Reconciler{
		{Name: "ip-reconciler", Run: i.reconcile},
		{Name: "pod-control-loop", PerNode: true, Daemon: true, Run: i.podControlLoop},
		{Name: "node-slice-controller", Daemon: true, Run: i.nodeSliceController},
	}, i.references()...)
}

// reconcile is one pass of the ip-reconciler: what upstream's cron starts. A pass that
// fails to clean one pool leaves the other pools and every reservation alone, as
// upstream returns early.
//
// Source: cmd/reconciler/main.go (v0.9.4).
func (i *instance) reconcile(ctx context.Context, g *sim.Gate, node string) error {
	failed := make(chan error, 1)
	p := i.program(ctx, g, "ip-reconciler", node)
	if err := ended(p.Name, p.Run(func() { reconciler.ReconcileIPs(failed) })); err != nil {
		return err
	}
	return <-failed
}
