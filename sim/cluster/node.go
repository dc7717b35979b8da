package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/sim"
	"ipamsim/sim/cloud"
	"ipamsim/sim/cluster/checker"
	"ipamsim/sim/cluster/cri"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/disk"
	"ipamsim/sim/kube"
)

// node is a machine. Its Node object in the API only describes it.
type node struct {
	number  int             // how many came before
	own     checker.Machine // its addresses
	object  *corev1.Node    // as stored; nil when not registered
	last    *corev1.Node    // object, or its last state before it was deleted
	kubelet *kubelet        // nil while it has no power
	// State of the container runtime: when it is back after it was killed, and the processes that
	// undo interrupted calls.
	runtimeBack time.Duration
	undoing     []sim.ActorID
	record      *cri.Record // its sandboxes
}

func (c *Cluster) nodeChanged(ch kube.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[ch.Name]
	obj, ok := ch.Object.(*corev1.Node)
	switch {
	case ok && n == nil:
		n = &node{record: &cri.Record{Runs: c.Checker.Runs}, number: len(c.nodes), own: checker.MachineOf(obj, len(c.nodes), c.Config.Manager.Annotations)}
		c.nodes[ch.Name] = n
	case n == nil:
		return
	}
	if n.object = obj; ok {
		n.last = obj
	}
	c.Checker.Registered(ch.Name, n.own, ok)
}

// Nodes are the names of all machines, sorted, also of those without power.
func (c *Cluster) Nodes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.nodes))
}

// CheckNode reports that there is no machine of that name.
func (c *Cluster) CheckNode(name string) error {
	if c.node(name) == nil {
		return fmt.Errorf("no node %q", name)
	}
	return nil
}

// Up reports whether a node has power.
func (c *Cluster) Up(name string) bool { return c.Checker.Machine(name).Up }

func (c *Cluster) node(name string) *node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[name]
}

// begin sets the state of a machine at the start of the run: on, with the pods that run on
// it, or off.
func (c *Cluster) begin(name string) error {
	up := c.found(name)
	if n := c.node(name).object; n != nil {
		if err := c.backends.Install(name, n.Annotations); err != nil {
			return &Rejected{Object{Kind: "Node", Name: name}, err}
		}
	}
	if err := c.adopt(name, c.Cache.PodsOn(name), c.Instance.Adopt); err != nil || !up {
		return err
	}
	c.bootAfter(name, c.startIn(name))
	return nil
}

// found records whether a machine is on at the start. It is off if the manifest of its Node
// says that it sends no heartbeats.
func (c *Cluster) found(name string) bool {
	up := !kubeapi.Unheard(c.node(name).object)
	c.Checker.Found(name, up)
	return up
}

// PowerOn turns a machine on: its kubelet and the per-node daemons start.
func (c *Cluster) PowerOn(name string) { c.bootAfter(name, 0) }

// bootAfter is PowerOn, with daemons that start after a delay.
func (c *Cluster) bootAfter(name string, daemons time.Duration) {
	c.Checker.PowerOn(name)
	c.controllers.MachineChanged()
	c.startKubelet(name)
	for _, d := range c.Config.Daemons {
		if r := c.procs[d]; r.PerNode {
			c.startDaemonAfter(r, name, daemons)
		}
	}
}

// PowerOff turns a machine off without a shutdown: every process dies immediately and
// every sandbox is lost. If forget is set, the disk is lost too, and no CNI DEL will ever
// run for its sandboxes. l selects which unsynced writes of the disk are lost.
func (c *Cluster) PowerOff(name string, forget bool, l disk.Loss) {
	c.World.KillGroup(name)
	c.backends.Lose(name, forget, l)
	defer c.controllers.MachineChanged()
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[name]
	n.kubelet, n.runtimeBack, n.undoing = nil, 0, nil
	if forget {
		n.record.Lose()
		c.Checker.RecordLost(name)
	}
	n.record.PowerOff()
	c.Checker.PowerOff(name)
}

// Partition cuts a machine off from the API server, or reconnects it. Its containers keep
// running.
func (c *Cluster) Partition(name string, cut bool) {
	was := c.Checker.Partitioned(name, cut)
	c.controllers.MachineChanged()
	switch {
	case cut && !was:
		c.World.Hold(name)
	case !cut && was:
		c.World.Release(name)
	}
}

// Newcomer is the manifest of the Node of a machine that replaces another: in the same subnet, with
// the next address that no node has had.
func (c *Cluster) Newcomer(name, replaced string) json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.nodes[replaced]
	if old.object == nil {
		return kubeapi.NodeManifest(name, nil)
	}
	n := kubeapi.NodeOf(name, old.object.Labels)
	n.Annotations = map[string]string{}
	notes := c.Config.Manager.Annotations
	if old.object.Annotations[notes.Node] != "" {
		n.Annotations[notes.Node] = c.nextAddr(old.own.Addr, func(x *node) netip.Addr { return x.own.Addr.Addr() })
	}
	if old.object.Annotations[notes.Node6] != "" {
		n.Annotations[notes.Node6] = c.nextAddr(old.own.Addr6, func(x *node) netip.Addr { return x.own.Addr6.Addr() })
	}
	return kubeapi.Manifest(n)
}

// nextAddr is the address after those that nodes have in a subnet.
func (c *Cluster) nextAddr(of netip.Prefix, addr func(*node) netip.Addr) string {
	last := of.Addr()
	for _, x := range c.nodes {
		if a := addr(x); of.Masked().Contains(a) && last.Less(a) {
			last = a
		}
	}
	return netip.PrefixFrom(last.Next(), of.Bits()).String()
}

// WaitFor waits until the cluster has received a node that was just created.
func (c *Cluster) WaitFor(ctx context.Context, node string) {
	for c.node(node) == nil && kubeapi.Sleep(ctx, 1) {
	}
}

// Disk is the disk of a node.
func (c *Cluster) Disk(node string) *disk.Disk { return c.backends.Disk(node) }

// UsedDisk is the disk of a node, nil if nothing has asked for it.
func (c *Cluster) UsedDisk(node string) *disk.Disk { return c.backends.Used(node) }

// Clouds are the providers' APIs that the manager calls.
func (c *Cluster) Clouds() []*cloud.Cloud { return c.backends.Clouds() }
