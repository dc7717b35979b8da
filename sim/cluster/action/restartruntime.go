package action

import (
	"cmp"
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/sim/cluster"
)

// RestartRuntime kills the container runtime of a node; its service manager starts it again.
// Containers keep running, and so does a plugin that the runtime was executing, whose result is
// lost.
type RestartRuntime struct {
	Node string          `json:"node" jsonschema:"required"`
	Down metav1.Duration `json:"down,omitzero" unset:"5s"` // default 5s
}

// Do sends SIGKILL to the runtime only, as KillMode=process of its unit does.
func (a *RestartRuntime) Do(ctx context.Context, o *cluster.Operator) error {
	if err := o.Cluster.CheckNode(a.Node); err != nil {
		return err
	}
	d := cmp.Or(a.Down.Duration, 5*time.Second)
	if !o.Cluster.RestartRuntime(a.Node, d) {
		return fmt.Errorf("node %q has no power", a.Node)
	}
	return nil
}

func (a *RestartRuntime) String() string { return "kill -9 containerd on node " + a.Node }

var restartRuntime = define(Kind{
	Name: "restartRuntime", Class: model.Crash, Stops: model.StopsMachine,
	Doc:     "The container runtime of a node dies and starts again; containers run on.",
	Hazards: []Hazard{{Name: "restartRuntime", Doc: "the container runtime of a node dies and starts again", Needs: always, Plan: lastingOn(func(n string, d metav1.Duration) cluster.Action { return &RestartRuntime{Node: n, Down: d} })}},
}, func(c Checker, a *RestartRuntime) { c.Node(a.Node, "node") })
