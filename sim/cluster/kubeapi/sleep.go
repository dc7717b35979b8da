package kubeapi

import (
	"context"
	"time"
)

// Sleep lets virtual time pass for one process. It reports false if the process was killed in
// the meantime.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
