package cluster

import (
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/disk"
	"ipamsim/sim/kube"
)

// node is a machine. The Node object in the API is only what is said of it.
type node struct {
	number  int // how many came before
	state   model.Node
	addr    netip.Prefix // its own, with its subnet's length
	object  *corev1.Node // as stored; nil when not registered
	last    *corev1.Node // object, or what it was when it was deleted
	kubelet *kubelet     // nil while it has no power
	// The container runtime's: when it is back after it was killed, and the processes
	// in which it undoes what was cut off.
	runtimeBack time.Duration
	undoing     []sim.ActorID
	disk        map[string]*podState // what survives a reboot: container runtimes remember their sandboxes
}

// podState is what a container runtime keeps of one sandbox: enough to run CNI
// DEL for it later.
type podState struct {
	pod       *corev1.Pod
	container string
	networks  []string // those that ADD was tried for, in order
	result    bool     // its ADD succeeded: the runtime has a result of it
	ips       []corev1.PodIP
	began     time.Duration // when its containers did
	worked    bool          // they have done their work
	undone    bool          // the runtime undoes its ADD and shows it to nobody
}

func (c *Cluster) nodeChanged(ch kube.Change) {
	n := c.nodes[ch.Name]
	obj, ok := ch.Object.(*corev1.Node)
	if !ok {
		if n != nil {
			n.object, n.state.Registered = nil, false
		}
		return
	}
	if n == nil {
		n = &node{disk: map[string]*podState{}, addr: nodeAddr(obj, len(c.nodes)), number: len(c.nodes)}
		c.nodes[ch.Name] = n
	}
	n.object, n.last, n.state.Registered = obj, obj, true
}

func (c *Cluster) nodeNames() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.nodes))
}

// machine is the state of a node's machine.
func (c *Cluster) machine(name string) model.Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[name].state
}

func (c *Cluster) node(name string) *node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[name]
}

// begin is how a machine is found at the start: with power, and with what runs on it,
// or silent.
func (c *Cluster) begin(name string) error {
	up := c.found(name)
	if err := c.adopt(name, c.stored.PodsOn(name), c.inst.Adopt); err != nil || !up {
		return err
	}
	c.bootAfter(name, c.startIn(name))
	return nil
}

// found gives a machine its power at the start, unless its manifest says that nobody
// has heard of it: it is then taken to be off.
func (c *Cluster) found(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[name]
	if n.state.Up = !unheard(n.object); !n.state.Up {
		c.recordLocked(model.Event{Kind: model.NodeEvent, Node: name, Text: "off"})
	}
	return n.state.Up
}

// unheard reports whether a node's own conditions say that its kubelet has been
// silent for long.
func unheard(n *corev1.Node) bool {
	return n != nil && slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionUnknown
	})
}

// boot gives a machine power: its kubelet and the per-node daemons start.
func (c *Cluster) boot(name string) { c.bootAfter(name, 0) }

// bootAfter is boot, with daemons that begin a while later.
func (c *Cluster) bootAfter(name string, daemons time.Duration) {
	c.mu.Lock()
	n := c.nodes[name]
	n.state.Up, n.state.Since = true, c.w.Now()
	c.recordLocked(model.Event{Kind: model.NodeEvent, Node: name, Text: "up"})
	c.mu.Unlock()
	c.controllers.MachineChanged()
	c.startKubelet(name)
	for _, d := range c.cfg.Daemons {
		if r := c.procs[d]; r.PerNode {
			c.startDaemonAfter(r, name, daemons)
		}
	}
}

// powerOff takes it away at once: every process dies where it stands, every
// sandbox is gone. A forgotten disk means that no CNI DEL will ever be run for
// the sandboxes it held. Of what the disk has not yet written, l is lost.
func (c *Cluster) powerOff(name string, forget bool, l disk.Loss) {
	c.w.KillGroup(name)
	c.doors.lose(name, forget, l)
	defer c.controllers.MachineChanged()
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[name]
	n.state.Up, n.state.Since, n.kubelet, n.runtimeBack, n.undoing = false, c.w.Now(), nil, 0, nil
	if forget {
		n.disk = map[string]*podState{}
	}
	for _, st := range n.disk {
		st.undone = false
	}
	// Each by name and in order: an oracle that asks how long a claim has been
	// without its sandbox would else be told when the sandbox was last busy,
	// which may be hours before the power went.
	for _, id := range slices.Sorted(maps.Keys(c.truth.sandboxes)) {
		if c.truth.sandboxes[id].Node == name {
			c.sandboxDownLocked(id, "power lost")
			c.sandboxGoneLocked(id)
		}
	}
	for id, b := range c.truth.busy {
		if b.Node == name {
			delete(c.truth.busy, id)
		}
	}
	c.recordLocked(model.Event{Kind: model.NodeEvent, Node: name, Text: "lost power"})
}

// cut takes a machine's way to the API server away; join gives it back. Its
// containers run on.
func (c *Cluster) cut(name string) { c.link(name, true, "partitioned") }

func (c *Cluster) join(name string) { c.link(name, false, "reachable again") }

func (c *Cluster) link(name string, cut bool, text string) {
	c.mu.Lock()
	n := c.nodes[name]
	was := n.state.Partitioned
	n.state.Partitioned, n.state.Since = cut, c.w.Now()
	c.recordLocked(model.Event{Kind: model.NodeEvent, Node: name, Text: text})
	c.mu.Unlock()
	c.controllers.MachineChanged()
	switch {
	case cut && !was:
		c.w.Hold(name)
	case !cut && was:
		c.w.Release(name)
	}
}

// NodeManifest is the Node as a kubelet would have registered it.
func NodeManifest(name string, labels map[string]string) json.RawMessage {
	return manifest(nodeOf(name, labels))
}

func nodeOf(name string, labels map[string]string) *corev1.Node {
	n := &corev1.Node{}
	n.APIVersion, n.Kind, n.Name, n.Labels = "v1", "Node", name, labels
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}}
	return n
}

func manifest(n *corev1.Node) json.RawMessage {
	b, err := json.Marshal(n)
	if err != nil {
		panic(err) // plain fields
	}
	return b
}
