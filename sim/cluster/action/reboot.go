package action

import (
	"cmp"
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/kubeapi"
)

// Reboot is a crash, and power again after Down.
type Reboot struct {
	Node   string          `json:"node" jsonschema:"required"`
	Down   metav1.Duration `json:"down,omitzero" unset:"30s"` // default 30s
	Forget bool            `json:"forget,omitempty"`
	// Unsynced is as of crash.
	Unsynced Unsynced `json:"unsynced,omitempty" unset:"the schedule says" jsonschema:"enum=keep,enum=lose"`
}

// Do turns it off and on again.
func (a *Reboot) Do(ctx context.Context, o *cluster.Operator) error {
	if err := (&Crash{Node: a.Node, Forget: a.Forget, Unsynced: a.Unsynced}).Do(ctx, o); err != nil {
		return err
	}
	d := cmp.Or(a.Down.Duration, 30*time.Second)
	if !kubeapi.Sleep(ctx, d) {
		return ctx.Err()
	}
	return (&PowerOn{Node: a.Node}).Do(ctx, o)
}

func (a *Reboot) String() string { return "reboot of node " + a.Node }

// Machine is the node that it happens to.
func (a *Reboot) Machine() string { return a.Node }

// PowerOn gives a node that crashed its power back.
type PowerOn struct {
	Node string `json:"node" jsonschema:"required"`
}

// Do presses the button.
func (a *PowerOn) Do(_ context.Context, o *cluster.Operator) error {
	if err := o.Cluster.CheckNode(a.Node); err != nil || o.Cluster.Up(a.Node) {
		return err
	}
	o.Cluster.PowerOn(a.Node)
	return nil
}

func (a *PowerOn) String() string { return "power on node " + a.Node }

// Machine is the node that it happens to.
func (a *PowerOn) Machine() string { return a.Node }
