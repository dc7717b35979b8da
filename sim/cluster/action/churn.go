package action

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/kubeapi"
)

// Churn deletes pods at a rate; their controllers make new ones.
type Churn struct {
	Every time.Duration // on average; each wait lies between half and one and a half of it
	From  time.Duration
	Until time.Duration
	// Pods are taken from this workload, KIND/NAMESPACE/NAME; "" means any.
	Workload string
	// Force is how many of ten deletions delete the object immediately, so that
	// the kubelet learns of it afterwards.
	Force int
}

const churnSteps = 16

// Churns are all that go on in a cluster. They implement cluster.Background.
type Churns []Churn

// Start starts a process for each.
func (all Churns) Start(c *cluster.Cluster) {
	for i, ch := range all {
		c.World.Spawn(sim.Process{ID: sim.ActorID(fmt.Sprintf("churn/%d", i)), Run: func(ctx context.Context, g *sim.Gate) error {
			return ch.run(ctx, &cluster.Operator{Cluster: c, Client: c.Client(g), Gate: g, ID: string(g.Actor())})
		}})
	}
}

func (ch Churn) run(ctx context.Context, o *cluster.Operator) error {
	if !kubeapi.Sleep(ctx, ch.From) {
		return ctx.Err()
	}
	for ch.Until == 0 || o.Cluster.World.Now() < ch.Until {
		n, err := o.Gate.Draw(ctx, "wait", churnSteps)
		if err != nil || !kubeapi.Sleep(ctx, ch.Every/2+ch.Every*time.Duration(n)/churnSteps) {
			return err
		}
		if err := ch.deleteOne(ctx, o); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func (ch Churn) deleteOne(ctx context.Context, o *cluster.Operator) error {
	pods := o.Cluster.Cache.Pods(func(p *corev1.Pod) bool {
		return p.DeletionTimestamp == nil && (ch.Workload == "" || belongs(p, ch.Workload))
	})
	if len(pods) == 0 {
		return nil
	}
	i, err := o.Gate.Draw(ctx, "pod", len(pods))
	if err != nil {
		return err
	}
	n, err := o.Gate.Draw(ctx, "force", 10)
	if err != nil {
		return err
	}
	by := &Delete{Resource: "pods", Namespace: pods[i].Namespace, Name: pods[i].Name, Force: n < ch.Force}
	if by.Force { // no cluster does that by itself
		o.Cluster.Checker.Record(model.Event{Kind: model.Operator, Actor: o.ID, Action: Ref(by), Text: by.String()})
	}
	return o.Client.DeletePod(ctx, by.Namespace, by.Name, by.Force)
}

func belongs(p *corev1.Pod, workload string) bool {
	for _, o := range p.OwnerReferences {
		if strings.EqualFold(o.Kind+"/"+p.Namespace+"/"+o.Name, workload) {
			return true
		}
	}
	return false
}
