// Package capacity predicts how long the addresses of a cluster last: the state of
// pools, blocks and routes over days of growth, churn, crashes and replaced nodes.
//
// A Cluster is the question. The trace of its workload is a sequence of events, drawn
// from a seed, and does not depend on the address manager. Play runs the Allocator of
// the cluster's Manager through a trace; scenarios/plan runs the real code through the
// same trace in a simulated cluster. The result of both is a Course.
//
// It is pure: no I/O, no goroutine, no clock, no upstream code.
package capacity

import (
	"time"

	"ipamsim/model"
	"ipamsim/model/capacity/workload"
	"ipamsim/model/route"
)

// Cluster is one cluster of a plan: its configuration, its workload and its faults.
type Cluster struct {
	Manager Manager
	// Networks are the networks of every pod, in order. A manager whose policy changes with the
	// cluster's nodes has its own: see Allocator.
	Networks []model.Network

	workload.Workload
	Fabric route.Fabric
	// Record is what there is at the beginning, of a cluster that was imported, as
	// Workload.Pods are; nil: nothing.
	Record *model.Snapshot

	// Becomes is the cluster by its configuration after the last step; nil: this one.
	Becomes *Cluster
	// JudgeFrom is the time from which a course counts. 0, the default, is Settle after the
	// start or after the end of the migration, and the start for an empty cluster.
	JudgeFrom time.Duration
}
