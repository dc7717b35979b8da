package action

import (
	"cmp"
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
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

var reboot = define(Kind{
	Name: "reboot", Class: model.Crash, Stops: model.StopsMachine,
	Doc:     "A node loses its power and has it again after a while.",
	Hazards: []Hazard{{Name: "reboot", Doc: "a node loses its power and has it again after a while", Needs: always, Plan: lastingOn(func(n string, d metav1.Duration) cluster.Action { return &Reboot{Node: n, Down: d} })}},
}, func(c Checker, a *Reboot) { c.Node(a.Node, "node") })

var powerOn = define(Kind{
	Name: "powerOn", Class: model.Ordinary,
	Doc: "A node that crashed has power again.",
}, func(c Checker, a *PowerOn) { c.Node(a.Node, "node") })
