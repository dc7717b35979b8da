package cluster

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Crash takes a node's power away.
type Crash struct {
	Node string `json:"node" jsonschema:"required"`
	// Forget: the disk is lost with it, so no CNI DEL will run for what it held.
	Forget bool `json:"forget,omitempty"`
}

// Do pulls the plug.
func (a *Crash) Do(_ context.Context, o *Operator) error {
	if _, err := o.machine(a.Node); err != nil {
		return err
	}
	o.c.powerOff(a.Node, a.Forget)
	return nil
}

func (a *Crash) String() string { return "power loss on node " + a.Node }

// PowerOn gives a node that crashed its power back.
type PowerOn struct {
	Node string `json:"node" jsonschema:"required"`
}

// Do presses the button.
func (a *PowerOn) Do(_ context.Context, o *Operator) error {
	n, err := o.machine(a.Node)
	if err != nil || n.state.Up {
		return err
	}
	o.c.boot(a.Node)
	return nil
}

func (a *PowerOn) String() string { return "power on node " + a.Node }

// Reboot is a crash, and power again after Down.
type Reboot struct {
	Node   string          `json:"node" jsonschema:"required"`
	Down   metav1.Duration `json:"down,omitempty"` // default 30s
	Forget bool            `json:"forget,omitempty"`
}

// Do turns it off and on again.
func (a *Reboot) Do(ctx context.Context, o *Operator) error {
	if err := (&Crash{Node: a.Node, Forget: a.Forget}).Do(ctx, o); err != nil {
		return err
	}
	d := a.Down.Duration
	if d == 0 {
		d = 30 * time.Second
	}
	if !sleep(ctx, d) {
		return ctx.Err()
	}
	return (&PowerOn{Node: a.Node}).Do(ctx, o)
}

func (a *Reboot) String() string { return "reboot of node " + a.Node }

// Partition cuts a node off from the API server; its containers run on.
type Partition struct {
	Node string          `json:"node" jsonschema:"required"`
	For  metav1.Duration `json:"for,omitempty"` // default: until healed
}

// Do pulls the network cable.
func (a *Partition) Do(ctx context.Context, o *Operator) error {
	if _, err := o.machine(a.Node); err != nil {
		return err
	}
	o.c.cut(a.Node)
	if a.For.Duration == 0 {
		return nil
	}
	if !sleep(ctx, a.For.Duration) {
		return ctx.Err()
	}
	o.c.join(a.Node)
	return nil
}

func (a *Partition) String() string { return "network partition of node " + a.Node }

// Heal ends a partition.
type Heal struct {
	Node string `json:"node" jsonschema:"required"`
}

// Do plugs the cable in.
func (a *Heal) Do(_ context.Context, o *Operator) error {
	_, err := o.machine(a.Node)
	if err == nil {
		o.c.join(a.Node)
	}
	return err
}

func (a *Heal) String() string { return "node " + a.Node + " reachable again" }
