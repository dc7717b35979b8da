package action

import (
	"cmp"
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/cluster"
	"ipamsim/sim/disk"
)

// DiskFault is a disk that does not do what it should for a while.
type DiskFault struct {
	Node string `json:"node" jsonschema:"required"`
	// Fault: full (no space: files cannot grow), noInodes (no file can be made), readOnly
	// (nothing can be changed), broken (every access fails), slow.
	Fault string          `json:"fault" jsonschema:"required,enum=full,enum=noInodes,enum=readOnly,enum=broken,enum=slow"`
	By    metav1.Duration `json:"by,omitzero" unset:"1s"`          // slow: what each access takes at least; default 1s
	For   metav1.Duration `json:"for,omitzero" unset:"to the end"` // default: to the end
}

var diskFaults = map[string]disk.Fault{"full": disk.Full, "noInodes": disk.NoInodes, "readOnly": disk.ReadOnly, "broken": disk.Broken}

// Do begins it and, later, ends it. A machine that is reimaged meanwhile keeps it.
func (a *DiskFault) Do(ctx context.Context, o *cluster.Operator) error {
	if err := o.Cluster.CheckNode(a.Node); err != nil {
		return err
	}
	d := o.Cluster.Disk(a.Node)
	if a.Fault == slow {
		return lasts(ctx, o, a, a.For, d.Slow(a.slower()))
	}
	return lasts(ctx, o, a, a.For, d.Fail(diskFaults[a.Fault]))
}

func (a *DiskFault) String() string {
	if a.Fault == slow {
		return fmt.Sprintf("disk of node %s slow by %v", a.Node, a.slower())
	}
	return fmt.Sprintf("disk of node %s %s", a.Node, map[string]string{
		"full": "full", "noInodes": "out of inodes", "readOnly": "read-only", "broken": "broken",
	}[a.Fault])
}

func (a *DiskFault) slower() time.Duration { return cmp.Or(a.By.Duration, time.Second) }
