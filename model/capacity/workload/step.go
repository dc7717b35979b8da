package workload

import (
	"net/netip"
	"time"
)

// Step is one step of a migration: what an operator does to a cluster that runs, so
// that it becomes what an option asks for. A step begins when the one before is
// done. One that the datastore refuses is tried again every stepRetry.
type Step struct {
	Kind StepKind
	// Pool is the name of the pool that is created, disabled or deleted, CIDR its addresses and
	// BlockBits the prefix length of its blocks; zero if the step does not concern a pool.
	Pool      string
	CIDR      netip.Prefix
	BlockBits int
	// Pools are the pools whose pods are restarted.
	Pools []netip.Prefix
	// Change is what the manager's own Allocator.Step does; nil of a restart.
	Change any
}

// StepKind says what a step does: RestartPods, or one of the manager's own.
type StepKind string

// RestartPods deletes all pods that there are one by one, and others take their
// places; only those stay that run since the beginning with no address of Pools.
const RestartPods StepKind = "restart-pods"

// Times of a migration.
const (
	// stepRetry is how long an operator waits before a refused step is tried again.
	stepRetry = 5 * time.Minute
	// stepPause is between the end of a step and the next one.
	stepPause = time.Minute
	// restartDefault is the time between two pods that a migration restarts: operators do not
	// restart all pods at the same time.
	restartDefault = 10 * time.Second
)
