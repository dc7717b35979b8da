// Package etcd3 is the compaction of etcd, which no program here is started with.
package etcd3

import (
	"context"
	"time"
)

// StartCompactor compacts nothing.
func StartCompactor(_ context.Context, client any, _ time.Duration) {}
