package action

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/sim/cluster"
	"ipamsim/sim/ipam"
)

// Second runs a daemon that is a deployment once more beside the one that runs:
// a rolling update that starts the new one first, a leader that did not notice
// its end.
type Second struct {
	Daemon string          `json:"daemon" jsonschema:"required"`
	For    metav1.Duration `json:"for,omitzero" unset:"to the end"` // default: to the end
}

// Do starts it and, later, kills it.
func (a *Second) Do(ctx context.Context, o *cluster.Operator) error {
	p, err := o.Cluster.Second(a.Daemon)
	if err != nil {
		return err
	}
	if a.For.Duration == 0 {
		return nil
	}
	t := time.NewTimer(a.For.Duration)
	defer t.Stop()
	select {
	case <-t.C:
		o.Cluster.World.Kill(p.ID)
	case <-p.Done():
	case <-ctx.Done():
	}
	return ctx.Err()
}

func (a *Second) String() string {
	return "start a second " + a.Daemon
}

var second = define(Kind{
	Name: "second", Class: model.OperatorAction, Stops: model.StopsProcesses,
	Doc:     "A daemon that is a Deployment runs twice.",
	Hazards: []Hazard{{Name: "second", Doc: "a daemon that is a Deployment runs twice for a while", Needs: hasDeployment, Plan: planSecond}},
}, func(c Checker, a *Second) {
	c.Daemon(a.Daemon, "daemon")
	c.Bad(perNode(c.Manager(), a.Daemon), Part{"daemon"}, "%s runs on each node and has no second instance", a.Daemon)
})

// perNode reports whether a daemon runs on every node.
func perNode(m *ipam.Manager, daemon string) bool {
	return slices.ContainsFunc(m.Processes, func(p ipam.Process) bool { return p.Name == daemon && p.PerNode })
}

func planSecond(ctx context.Context, d Draw) (Planned, error) {
	cfg := d.Cluster().Config
	daemons := slices.DeleteFunc(slices.Clone(cfg.Daemons), func(name string) bool { return perNode(cfg.Manager, name) })
	slices.Sort(daemons)
	daemon, ok, err := one(ctx, d, "daemon", slices.Compact(daemons))
	if !ok {
		return Planned{}, err
	}
	long, err := lasting(ctx, d)
	return Planned{Action: &Second{Daemon: daemon, For: long}}, err
}
