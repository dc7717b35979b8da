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

// Pause stops a process, or every process of a node, for a while. When it resumes, its state (a
// lease, a list) may be outdated.
type Pause struct {
	Actor string          `json:"actor" jsonschema:"required"` // an actor or a node
	For   metav1.Duration `json:"for,omitzero" unset:"30s"`    // default 30s
}

// Do sends SIGSTOP and, later, SIGCONT.
func (a *Pause) Do(ctx context.Context, o *cluster.Operator) error {
	resume := o.Cluster.Paused(a.Actor)
	slept := kubeapi.Sleep(ctx, cmp.Or(a.For.Duration, 30*time.Second))
	if err := resume(); err != nil || slept {
		return err
	}
	return ctx.Err()
}

func (a *Pause) String() string { return "pause " + a.Actor }

var pause = define(Kind{
	Name: "pause", Class: model.InjectedFault, Stops: model.StopsProcesses,
	Doc: "A process, or every process of a node, stops for a while and keeps what it believes.",
	Hazards: []Hazard{
		{Name: "pause", Doc: "a process of the manager stops after one of its messages, keeps what it believes (a lease, a list), and wakes later", Needs: always, Plan: planPause},
		{Name: "pauseNode", Doc: "all processes of a node stop for a while", Needs: always, Plan: lastingOn(func(n string, d metav1.Duration) cluster.Action { return &Pause{Actor: n, For: d} })},
	},
}, func(c Checker, a *Pause) { c.Process(a.Actor, "a process or a node", "actor") })

func planPause(ctx context.Context, d Draw) (Planned, error) {
	long, err := d.Duration(ctx)
	if err != nil {
		return Planned{}, err
	}
	id, err := d.Process(ctx)
	if id == "" {
		return Planned{}, err
	}
	return Planned{Action: &Pause{Actor: id, For: metav1.Duration{Duration: d.Clip(long)}}}, nil
}
