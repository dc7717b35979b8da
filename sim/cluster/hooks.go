package cluster

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// stepped is sim.Hooks.Step.
func (c *Cluster) stepped(s *sim.Step) {
	found := c.Checker.Stepped(s)
	if stop := c.Config.Stop; stop != nil && stop(s, found) {
		c.World.Finish()
	}
}

// panicked is sim.Hooks.Panic. A panic of the address manager is a finding. A panic in one of our
// own processes is an error of ours, and so is one in our own code that the address manager has
// called: a server, a transport, the kernel.
func (c *Cluster) panicked(id sim.ActorID, value any, stack string) {
	in := model.CrashedIn(stack)
	ours := strings.HasPrefix(in, "ipamsim/") && !ipam.Theirs(c.Config.Manager, in)
	if ours || !c.Checker.Theirs(id) {
		c.World.Abort(fmt.Errorf("cluster: %s panicked: %v\n%s", id, value, stack))
		return
	}
	c.Checker.Record(model.Event{Kind: model.ActorPanic, Actor: string(id), Err: fmt.Sprint(value), Text: stack})
}

// changed passes a committed change to the checker, the controllers and the informers. It is
// called on the root goroutine.
func (c *Cluster) changed(ch kube.Change) {
	c.keep(ch)
	informers := c.feed.Informers() // an informer that c.controllers.Changed adds has already read the change
	c.controllers.Changed(ch)
	for _, in := range informers {
		in.Offer(ch)
	}
}

// keep takes note of a change.
func (c *Cluster) keep(ch kube.Change) {
	c.Cache.Changed(ch)
	switch ch.Resource {
	case kubeapi.Pods.Plural:
		c.podChanged(ch)
	case kubeapi.Nodes.Plural:
		c.nodeChanged(ch)
	case servicesOf, rangesOf:
		c.serviceChanged(ch)
	}
}

func (c *Cluster) podChanged(ch kube.Change) {
	key := model.PodRef{Namespace: ch.Namespace, Name: ch.Name}
	p, ok := ch.Object.(*corev1.Pod)
	if !ok {
		c.Checker.PodChanged(key, nil)
		return
	}
	now := &model.Pod{UID: string(p.UID), Node: p.Spec.NodeName, Phase: string(p.Status.Phase), Deleting: p.DeletionTimestamp != nil}
	now.Waits = kubeapi.Lacks(p, corev1.PodReadyToStartContainers)
	for _, n := range c.networksOf(p) {
		now.Networks = append(now.Networks, n.Key)
	}
	c.Checker.PodChanged(key, now)
	c.mu.Lock()
	c.turns.Comes(p.UID)
	c.mu.Unlock()
}

// Act describes what a step did, as ipam.Instance.Act does.
func (c *Cluster) Act(detail any) act.Act { return c.Instance.Act(detail) }

// NoSpace makes etcd refuse writes that would make it grow, or accept them again.
func (c *Cluster) NoSpace(on bool) { c.api.NoSpace(on) }

// Calls is how many requests reached the API server.
func (c *Cluster) Calls() int {
	n := 0
	for _, s := range c.World.Trace().Steps {
		if _, ok := s.Detail.(kube.Exchange); ok {
			n++
		}
	}
	return n
}
