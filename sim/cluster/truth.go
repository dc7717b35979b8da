package cluster

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// truth is what is really there, whatever any datastore says. Guarded by
// Cluster.mu.
type truth struct {
	sandboxes map[string]*model.Sandbox // by container id
	pods      map[model.PodRef]model.Pod
	busy      map[string]*cniCall // by container id
	history   model.History
	changed   bool // since the last judgement
	seen      seen
}

func (t *truth) init() {
	t.sandboxes = map[string]*model.Sandbox{}
	t.pods = map[model.PodRef]model.Pod{}
	t.busy = map[string]*cniCall{}
}

// cniCall is one CNI call under way, with what will be needed to judge its end.
type cniCall struct {
	model.Busy
	call    ipam.Call
	by      sim.ActorID // who waits for it
	plugin  *sim.Actor
	lost    chan struct{} // closed when the runtime that executed it is gone
	minFree int           // the least number of addresses left free at any time during it
	// disturbed: a fault met it, or a message of the manager's took long meanwhile.
	disturbed bool
}

// record appends an event to the history and stamps it.
func (c *Cluster) record(e model.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recordLocked(e)
}

func (c *Cluster) recordLocked(e model.Event) {
	if c.over {
		return // killed processes still unwind; nobody hears them
	}
	e.Step, e.At = len(c.w.Trace().Steps), c.w.Now()
	c.truth.history.Add(e)
	c.truth.changed = true
}

func (c *Cluster) sandboxUp(sb model.Sandbox) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sb.Since = c.w.Now()
	c.truth.sandboxes[sb.ID] = &sb
	c.truth.seen.sandboxesChanged()
	c.recordLocked(model.Event{Kind: model.SandboxUp, Node: sb.Node, Pod: sb.Pod, Container: sb.ID})
}

// attach gives a live sandbox an interface. A sandbox that is gone by now (its
// node died during the ADD) stays gone.
func (c *Cluster) attach(id string, a model.Attachment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sb := c.truth.sandboxes[id]; sb != nil {
		a.Since = c.w.Now()
		sb.Attachments = append(sb.Attachments, a)
		c.truth.changed = true
		c.truth.seen.sandboxesChanged()
	}
}

// device gives a node's own device an address, or takes it away. It counts as a
// sandbox of the node's, because it answers to the address as a pod would.
func (c *Cluster) device(node, handle string, addr netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.truth.sandboxes[handle]; old != nil {
		if addr.IsValid() && slices.Contains(old.Attachments[0].Addrs, addr) {
			return
		}
		delete(c.truth.sandboxes, handle)
	}
	c.truth.changed = true
	c.truth.seen.sandboxesChanged()
	if n := c.nodes[node]; n == nil || !n.state.Up || !addr.IsValid() {
		return
	}
	c.truth.sandboxes[handle] = &model.Sandbox{
		ID: handle, Pod: model.PodRef{Name: node}, Node: node, Since: c.w.Now(),
		Attachments: []model.Attachment{{Network: c.cfg.Primary, Interface: "tunnel", Addrs: []netip.Addr{addr}, Since: c.w.Now()}},
	}
}

// sandboxDown: its processes are gone.
func (c *Cluster) sandboxDown(id, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sandboxDownLocked(id, why)
}

func (c *Cluster) sandboxDownLocked(id, why string) {
	if sb := c.truth.sandboxes[id]; sb != nil && !sb.Stopped {
		sb.Stopped = true
		c.truth.seen.sandboxesChanged()
		c.recordLocked(model.Event{Kind: model.SandboxDown, Node: sb.Node, Pod: sb.Pod, Container: id, Text: why})
	}
}

// sandboxGoneLocked takes a sandbox away with the network namespace that it was.
func (c *Cluster) sandboxGoneLocked(id string) {
	if c.truth.sandboxes[id] != nil {
		delete(c.truth.sandboxes, id)
		c.truth.changed = true
		c.truth.seen.sandboxesChanged()
	}
}

// runsLocked reports whether a sandbox has its processes.
func (c *Cluster) runsLocked(id string) bool {
	sb := c.truth.sandboxes[id]
	return sb != nil && !sb.Stopped
}

// detach takes an interface out of a sandbox.
func (c *Cluster) detach(id, iface string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sb := c.truth.sandboxes[id]; sb != nil {
		sb.Attachments = slices.DeleteFunc(slices.Clone(sb.Attachments), func(a model.Attachment) bool { return a.Interface == iface })
		c.truth.changed = true
		c.truth.seen.sandboxesChanged()
	}
}

// changed keeps what the judge and the controllers know of stored objects. It is
// called for every committed change, on the root goroutine.
func (c *Cluster) changed(ch kube.Change) {
	c.mu.Lock()
	c.keep(ch)
	c.mu.Unlock()
	informers := c.feed.Informers() // a controller that is new knows already
	c.controllers.Changed(ch)
	for _, in := range informers {
		in.Offer(ch)
	}
}

// keep takes note of a change. Called with mu held.
func (c *Cluster) keep(ch kube.Change) {
	c.stored.Changed(ch)
	switch ch.Resource {
	case kubeapi.Pods.Plural:
		c.podChanged(ch)
	case kubeapi.Nodes.Plural:
		c.nodeChanged(ch)
	}
}

func (c *Cluster) podChanged(ch kube.Change) {
	key := model.PodRef{Namespace: ch.Namespace, Name: ch.Name}
	if p, ok := ch.Object.(*corev1.Pod); ok {
		now := c.knownOf(p)
		if old, ok := c.truth.pods[key]; ok && old.UID == now.UID && old.Node == now.Node {
			now.Since = old.Since
		}
		c.truth.pods[key] = now
		c.turns.comes(p.UID)
	} else {
		delete(c.truth.pods, key)
	}
	c.truth.seen.podsChanged()
	c.truth.changed = true
}

// knownOf is a stored pod as the judge sees it.
func (c *Cluster) knownOf(p *corev1.Pod) model.Pod {
	m := model.Pod{
		UID: string(p.UID), Node: p.Spec.NodeName, Phase: string(p.Status.Phase),
		Deleting: p.DeletionTimestamp != nil, Since: c.w.Now(),
	}
	for _, n := range c.networksOf(p) {
		m.Networks = append(m.Networks, n.key)
	}
	return m
}

// snapshotLocked is the ground truth, sorted. Called with mu held.
func (c *Cluster) snapshotLocked() model.Truth {
	t := model.Truth{
		At: c.w.Now(), Busy: make(map[string]model.Busy, len(c.truth.busy)),
		Nodes: make(map[string]model.Node, len(c.nodes)), Sandboxes: c.seenSandboxes(), Pods: c.seenPods(),
	}
	for id, b := range c.truth.busy {
		t.Busy[id] = b.Busy
	}
	for name, n := range c.nodes {
		t.Nodes[name] = n.state
	}
	return t
}
