package action

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster"
)

// Terminate stops a process as Kubernetes stops a container whose pod is deleted: SIGTERM, and
// SIGKILL if it has not ended after the grace period. A process without a handler ends immediately.
type Terminate struct {
	Actor string          `json:"actor" jsonschema:"required"`
	Grace metav1.Duration `json:"grace,omitzero" unset:"30s"` // default 30s
}

// graceDefault is the default grace period of pods.
const graceDefault = 30 * time.Second

// Do returns when the process has ended.
func (a *Terminate) Do(ctx context.Context, o *cluster.Operator) error {
	for _, other := range []string{"kubelet/", "kube-apiserver"} {
		if strings.HasPrefix(a.Actor, other) {
			return fmt.Errorf("%s: its graceful shutdown is not simulated: kill it", a.Actor)
		}
	}
	id, alive := o.Cluster.Process(a.Actor)
	if !alive {
		return o.Cluster.Kill(ctx, sim.ActorID(a.Actor)) // which lists the processes that there are
	}
	p := o.Cluster.World.Terminate(id)
	t := time.NewTimer(cmp.Or(a.Grace.Duration, graceDefault))
	defer t.Stop()
	select {
	case <-p.Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
	}
	o.Cluster.World.Kill(id)
	return nil
}

func (a *Terminate) String() string { return "terminate " + a.Actor }

var terminate = define(Kind{
	Name: "terminate", Class: model.Crash, Stops: model.StopsProcesses,
	Doc:     "A process is asked to end: SIGTERM, and SIGKILL after the grace period.",
	Hazards: []Hazard{{Name: "restart", Doc: "a daemon or a kubelet dies; its supervisor starts it again", Needs: always, Plan: planRestart}},
}, func(c Checker, a *Terminate) { c.Process(a.Actor, "a process", "actor") })

func planRestart(ctx context.Context, d Draw) (Planned, error) {
	var all []string
	for _, id := range d.Cluster().World.Actors() {
		head, rest := Family(string(id))
		if slices.Contains(d.Cluster().Config.Daemons, head) || head == kubelet && path.Base(rest) == rest {
			all = append(all, string(id))
		}
	}
	id, ok, err := one(ctx, d, "process", all)
	if !ok {
		return Planned{}, err
	}
	if head, _ := Family(id); head == kubelet || head == "kube-apiserver" {
		return Planned{Action: &Kill{Actor: id}}, nil
	}
	return Planned{Action: &Terminate{Actor: id}}, nil
}

const kubelet = "kubelet"

// Family is the kind of process of an actor: the first part of its name. rest identifies the
// process.
func Family(id string) (head, rest string) {
	head, rest, _ = strings.Cut(id, "/")
	head, again, _ := strings.Cut(head, "~") // ip-reconciler~2
	return head, rest + again
}
