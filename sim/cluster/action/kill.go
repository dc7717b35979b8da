package action

import (
	"context"
	"fmt"
	"strings"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster"
)

// Kill ends one process immediately, by its actor's name.
type Kill struct {
	Actor string `json:"actor" jsonschema:"required"`
}

// Do sends SIGKILL. A kubelet comes back; without one its node would be healthy
// and never start anything, which no address manager can be blamed for.
//
// Its pod workers are goroutines of it and cannot be killed by themselves.
func (a *Kill) Do(ctx context.Context, o *cluster.Operator) error {
	if name, ok := strings.CutPrefix(a.Actor, "kubelet/"); ok && strings.Contains(name, "/") {
		return fmt.Errorf("%s is a part of its kubelet: kill that", a.Actor)
	}
	return o.Cluster.Kill(ctx, sim.ActorID(a.Actor))
}

func (a *Kill) String() string { return "kill -9 " + a.Actor }

var kill = define(Kind{
	Name: "kill", Class: model.Crash, Stops: model.StopsProcesses,
	Doc:     "SIGKILL for one process.",
	Hazards: []Hazard{{Name: "kill", Doc: "a process of the manager dies after one of its messages", Needs: always, Plan: planKill}},
}, func(c Checker, a *Kill) { c.Process(a.Actor, "a process", "actor") })

func planKill(ctx context.Context, d Draw) (Planned, error) {
	id, err := d.Process(ctx)
	if id == "" {
		return Planned{}, err
	}
	return Planned{Action: &Kill{Actor: id}}, nil
}
