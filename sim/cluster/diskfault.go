package cluster

import (
	"cmp"
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/sim/cluster/kubeapi"
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

// slowFault is the fault that needs By.
const slowFault = "slow"

var diskFaults = map[string]disk.Fault{"full": disk.Full, "noInodes": disk.NoInodes, "readOnly": disk.ReadOnly, "broken": disk.Broken}

// diskFaultNames are those that hazards choose from, in the order of the answers.
var diskFaultNames = []string{"full", "readOnly", "noInodes", "broken", slowFault}

// Do begins it and, later, ends it. A machine that is reimaged meanwhile keeps it.
func (a *DiskFault) Do(ctx context.Context, o *Operator) error {
	if _, err := o.machine(a.Node); err != nil {
		return err
	}
	d := o.c.doors.made(o.c, a.Node)
	if a.Fault == slowFault {
		return o.lasts(ctx, a, a.For, d.Slow(a.slower()))
	}
	return o.lasts(ctx, a, a.For, d.Fail(diskFaults[a.Fault]))
}

func (a *DiskFault) String() string {
	if a.Fault == slowFault {
		return fmt.Sprintf("disk of node %s slow by %v", a.Node, a.slower())
	}
	return fmt.Sprintf("disk of node %s %s", a.Node, map[string]string{
		"full": "full", "noInodes": "out of inodes", "readOnly": "read-only", "broken": "broken",
	}[a.Fault])
}

func (a *DiskFault) slower() time.Duration { return cmp.Or(a.By.Duration, time.Second) }

// lasts ends a fault after a while, if it has an end, and takes note of that.
func (o *Operator) lasts(ctx context.Context, a Action, d metav1.Duration, end func()) error {
	if d.Duration == 0 {
		return nil
	}
	if !kubeapi.Sleep(ctx, d.Duration) {
		return ctx.Err()
	}
	end()
	o.c.record(model.Event{Kind: model.Operator, Actor: o.id, Deed: deed(a), Text: "no longer: " + a.String()})
	return nil
}

// planDisk is the hazard.
func planDisk(ctx context.Context, h *hazard) (event, error) {
	n, ok, err := h.node(ctx)
	if !ok {
		return event{}, err
	}
	i, err := h.draw(ctx, "fault", len(diskFaultNames))
	if err != nil {
		return event{}, err
	}
	d, err := h.duration(ctx)
	return event{Action: &DiskFault{Node: n, Fault: diskFaultNames[i], For: metav1.Duration{Duration: h.clip(d)}}}, err
}
