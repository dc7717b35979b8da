//go:build !calico332 || calicoprocesses

package calico

import (
	"context"
	_ "unsafe" // for linkname
)

// reconcileTunnels runs until ctx ends. It ends the process if an allocation fails.
func reconcileTunnels(ctx context.Context, r tunnelReconciler) error {
	runReconciler(r, ctx.Done())
	return ctx.Err()
}

//go:linkname runReconciler github.com/projectcalico/calico/node/pkg/allocateip.reconciler.run
func runReconciler(r tunnelReconciler, done <-chan struct{})
