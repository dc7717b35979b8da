//go:build calico332 && !calicoprocesses

package calico

import (
	"cmp"
	"context"
	_ "unsafe" // for linkname
)

// reconcileTunnels runs until ctx ends or an allocation fails, which ends the process.
func reconcileTunnels(ctx context.Context, r tunnelReconciler) error {
	err := runReconciler(r, ctx)
	return cmp.Or(ctx.Err(), err)
}

//go:linkname runReconciler github.com/projectcalico/calico/node/pkg/allocateip.reconciler.run
func runReconciler(r tunnelReconciler, ctx context.Context) error
