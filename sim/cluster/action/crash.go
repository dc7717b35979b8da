package action

import (
	"context"

	"ipamsim/model"
	"ipamsim/sim/cluster"
	"ipamsim/sim/disk"
)

// Crash takes a node's power away.
type Crash struct {
	Node string `json:"node" jsonschema:"required"`
	// Forget: the disk is lost too, so no CNI DEL will run for its sandboxes.
	Forget bool `json:"forget,omitempty"`
	// Unsynced decides about data that was written to the disk and not yet synced: keep or lose; by
	// default the schedule chooses how much is lost.
	Unsynced Unsynced `json:"unsynced,omitempty" unset:"the schedule says" jsonschema:"enum=keep,enum=lose"`
}

// Unsynced is the effect of a power loss on unsynced data.
type Unsynced string

// Keep nothing is lost, Lose everything that may be.
const (
	Keep Unsynced = "keep"
	Lose Unsynced = "lose"
)

// Do pulls the plug.
func (a *Crash) Do(ctx context.Context, o *cluster.Operator) error {
	if err := o.Cluster.CheckNode(a.Node); err != nil {
		return err
	}
	l, err := a.loss(ctx, o)
	if err != nil {
		return err
	}
	o.Cluster.PowerOff(a.Node, a.Forget, l)
	return nil
}

func (a *Crash) String() string { return "power loss on node " + a.Node }

// changesMax is the greatest number of the last changes of the journal that a schedule may choose
// to lose: an ADD makes two or three.
const changesMax = 8

// loss asks the schedule how much of the unsynced data is lost. It does not ask if there is none.
func (a *Crash) loss(ctx context.Context, o *cluster.Operator) (l disk.Loss, err error) {
	d := o.Cluster.UsedDisk(a.Node)
	if d == nil || a.Forget || a.Unsynced == Keep {
		return l, nil
	}
	journal, writes := d.Unsynced()
	if a.Unsynced == Lose {
		return disk.Loss{Journal: journal, Data: disk.AllData}, nil
	}
	if journal > 0 {
		if l.Journal, err = o.Gate.Draw(ctx, "journal", min(journal, changesMax)+1); err != nil {
			return l, err
		}
	}
	if writes > 0 {
		var data int
		data, err = o.Gate.Draw(ctx, "data", int(disk.Datas))
		l.Data = disk.Data(data)
	}
	return l, err
}

var crash = define(Kind{
	Name: "crash", Class: model.Crash, Stops: model.StopsMachine,
	Doc:     "A node loses its power, with its sandboxes.",
	Hazards: []Hazard{{Name: "crash", Doc: "a node loses its power, with its sandboxes, for good", Needs: always, Plan: onNode(func(n string) cluster.Action { return &Crash{Node: n} })}},
}, func(c Checker, a *Crash) { c.Node(a.Node, "node") })
