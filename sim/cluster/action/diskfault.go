package action

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/sim/cluster"
	"ipamsim/sim/disk"
)

// DiskFault makes a disk fail or respond slowly for a while.
type DiskFault struct {
	Node string `json:"node" jsonschema:"required"`
	// Fault: full (no space: files cannot grow), noInodes (no file can be made), readOnly
	// (nothing can be changed), broken (every access fails), slow.
	Fault string          `json:"fault" jsonschema:"required,enum=full,enum=noInodes,enum=readOnly,enum=broken,enum=slow"`
	By    metav1.Duration `json:"by,omitzero" unset:"1s"`          // slow: what each access takes at least; default 1s
	For   metav1.Duration `json:"for,omitzero" unset:"to the end"` // default: to the end
}

type diskState struct {
	name, words string
	is          disk.Fault
}

// diskFaults are all faults except slow.
var diskFaults = []diskState{
	{"full", "full", disk.Full}, {"readOnly", "read-only", disk.ReadOnly}, {"noInodes", "out of inodes", disk.NoInodes}, {"broken", "broken", disk.Broken},
}

// diskFaultNames are the names of all, in a fixed order, in which hazards choose.
func diskFaultNames() (out []string) {
	for _, f := range diskFaults {
		out = append(out, f.name)
	}
	return append(out, slow)
}

// Do begins it and, later, ends it. A machine that is reimaged in the meantime keeps it.
func (a *DiskFault) Do(ctx context.Context, o *cluster.Operator) error {
	if err := o.Cluster.CheckNode(a.Node); err != nil {
		return err
	}
	d := o.Cluster.Disk(a.Node)
	if a.Fault == slow {
		return lasts(ctx, o, a, a.For, d.Slow(a.slower()))
	}
	return lasts(ctx, o, a, a.For, d.Fail(a.kind().is))
}

func (a *DiskFault) String() string {
	if a.Fault == slow {
		return fmt.Sprintf("disk of node %s slow by %v", a.Node, a.slower())
	}
	return fmt.Sprintf("disk of node %s %s", a.Node, a.kind().words)
}

// kind is the zero value of a name that there is not, which loading refuses.
func (a *DiskFault) kind() diskState {
	i := slices.IndexFunc(diskFaults, func(f diskState) bool { return f.name == a.Fault })
	if i < 0 {
		return diskState{}
	}
	return diskFaults[i]
}

func (a *DiskFault) slower() time.Duration { return cmp.Or(a.By.Duration, time.Second) }

var diskFault = define(Kind{
	Name: "disk", Class: model.InjectedFault, Stops: model.StopsMachine,
	Doc:     "The disk of a node is full, read-only, without inodes, broken or slow.",
	Hazards: []Hazard{{Name: "disk", Doc: "the disk of a node is full, read-only, without inodes, broken or slow", Named: true, Needs: usesDisk, Plan: planDisk}},
}, func(c Checker, a *DiskFault) {
	c.Node(a.Node, "node")
	needs(c, usesDisk)
	c.Bad(a.By.Duration > 0 && a.Fault != slow, Part{"by"}, "only of a slow disk")
})

func planDisk(ctx context.Context, d Draw) (Planned, error) {
	n, ok, err := d.Node(ctx)
	if !ok {
		return Planned{}, err
	}
	all := diskFaultNames()
	i, err := d.Choose(ctx, "fault", len(all))
	if err != nil {
		return Planned{}, err
	}
	long, err := lasting(ctx, d)
	return Planned{Action: &DiskFault{Node: n, Fault: all[i], For: long}}, err
}
