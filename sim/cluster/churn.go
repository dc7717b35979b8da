package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
)

// Churn deletes pods at a rate; their controllers make new ones.
type Churn struct {
	Every time.Duration // on average; each wait lies between half and one and a half of it
	From  time.Duration
	Until time.Duration
	// Pods are taken from this workload, KIND/NAMESPACE/NAME; "" means any.
	Workload string
	// Force is how many of ten deletions take the object away at once, so that
	// the kubelet learns of it afterwards.
	Force int
}

const churnSteps = 16

func (c *Cluster) startChurn(i int, ch Churn) {
	c.w.Spawn(sim.Process{ID: sim.ActorID(fmt.Sprintf("churn/%d", i)), Run: func(ctx context.Context, g *sim.Gate) error {
		cl := kubeapi.New(c.api.Door(g))
		if !kubeapi.Sleep(ctx, ch.From) {
			return ctx.Err()
		}
		for ch.Until == 0 || c.w.Now() < ch.Until {
			n, err := g.Draw(ctx, "wait", churnSteps)
			if err != nil || !kubeapi.Sleep(ctx, ch.Every/2+ch.Every*time.Duration(n)/churnSteps) {
				return err
			}
			if err := c.churn(ctx, g, cl, ch); err != nil && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	}})
}

func (c *Cluster) churn(ctx context.Context, g *sim.Gate, cl kubeapi.Client, ch Churn) error {
	pods := c.churnable(ch.Workload)
	if len(pods) == 0 {
		return nil
	}
	i, err := g.Draw(ctx, "pod", len(pods))
	if err != nil {
		return err
	}
	n, err := g.Draw(ctx, "force", 10)
	if err != nil {
		return err
	}
	by := &Delete{Resource: "pods", Namespace: pods[i].Namespace, Name: pods[i].Name, Force: n < ch.Force}
	if by.Force { // no cluster does that by itself
		c.record(model.Event{Kind: model.Operator, Actor: string(g.Actor()), Deed: deed(by), Text: by.String()})
	}
	return cl.DeletePod(ctx, by.Namespace, by.Name, by.Force)
}

func (c *Cluster) churnable(workload string) []*corev1.Pod {
	return c.stored.Pods(func(p *corev1.Pod) bool {
		return p.DeletionTimestamp == nil && (workload == "" || belongs(p, workload))
	})
}

func belongs(p *corev1.Pod, workload string) bool {
	for _, o := range p.OwnerReferences {
		if strings.EqualFold(o.Kind+"/"+p.Namespace+"/"+o.Name, workload) {
			return true
		}
	}
	return false
}
