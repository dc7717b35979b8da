package whereabouts

import (
	"context"

	"github.com/k8snetworkplumbingwg/whereabouts/pkg/reconciler"
	storage "github.com/k8snetworkplumbingwg/whereabouts/pkg/storage/kubernetes"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
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

// reconcile is one pass of the ip-reconciler. A pass that fails to clean one pool
// leaves the other pools and every reservation alone, as upstream returns early.
//
// Source: pkg/reconciler/ip.go, ReconcileIPs (v0.9.4).
func (i *instance) reconcile(_ context.Context, g *sim.Gate, _ string) error {
	d := dial(i.env.API.Door(g))
	client := storage.NewKubernetesClient(whereaboutsSet{v1alpha1: d.whereabouts()}, kubeSet{core: d.core()})
	if d.err != nil {
		return d.err
	}
	loop, err := reconciler.NewReconcileLooperWithClient(client)
	if err != nil {
		return err
	}
	if _, err := loop.ReconcileIPPools(); err != nil {
		return err
	}
	return loop.ReconcileOverlappingIPAddresses()
}
