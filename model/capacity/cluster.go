// Package capacity says how long the addresses of a cluster last: what becomes of
// pools, blocks and routes over days of growth, churn, crashes and replaced nodes.
//
// A Cluster is what is asked about. The trace of its workload is what happens to it, event
// by event, drawn from a seed and the same whatever the address manager does. Play lets the
// Allocator of its Manager live through a trace; the same one can be played by the real
// code in a simulated cluster (scenarios/plan). What came of it is a Course, measured the same way in both.
//
// It is pure: no I/O, no goroutine, no clock, no upstream code.
package capacity

import (
	"time"

	"ipamsim/model"
	"ipamsim/model/capacity/workload"
	"ipamsim/model/route"
)

// Cluster is one cluster that a plan asks about: what is configured, what runs on
// it, and what happens to it.
type Cluster struct {
	Manager Manager
	// Networks are what every pod is attached to, in turn. A manager whose policy changes
	// with the cluster's nodes has its own: see Allocator.
	Networks []model.Network

	workload.Workload
	Fabric route.Fabric
	// Record is what there is at the beginning, of a cluster that was imported, as
	// Workload.Pods are; nil: nothing.
	Record *model.Snapshot

	// Becomes is the cluster by its configuration after the last step; nil: this one.
	Becomes *Cluster
	// JudgeFrom is from when on a course counts; 0 is the default: Settle after the
	// beginning or the end of the migration, or at once of a cluster that is empty.
	JudgeFrom time.Duration
}
