package checker

import (
	"context"
	"maps"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
)

// SandboxUp records a sandbox that the runtime has created.
func (c *Checker) SandboxUp(sb model.Sandbox) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sb.Since = c.w.Now()
	c.sandboxLocked(sb, "")
}

// SandboxFound is one that was there before the run.
func (c *Checker) SandboxFound(sb model.Sandbox) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sandboxLocked(sb, "found running")
}

func (c *Checker) sandboxLocked(sb model.Sandbox, how string) {
	c.sandboxes[sb.ID] = &sb
	c.cache.sandboxesChanged()
	c.recordLocked(model.Event{Kind: model.SandboxUp, Node: sb.Node, Pod: sb.Pod, Container: sb.ID, Text: how})
}

// HasSandbox reports whether a sandbox is there, running or not.
func (c *Checker) HasSandbox(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sandboxes[id] != nil
}

// Runs reports whether a sandbox has its processes.
func (c *Checker) Runs(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	sb := c.sandboxes[id]
	return sb != nil && !sb.Stopped
}

// Attach gives a live sandbox an interface. A sandbox that is gone by now (its
// node died during the ADD) stays gone.
func (c *Checker) Attach(id string, a model.Attachment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sb := c.sandboxes[id]; sb != nil {
		a.Since = c.w.Now()
		sb.Attachments = append(sb.Attachments, a)
		c.sandboxesChanged(id)
		for _, addr := range a.Addrs {
			c.touchLocked(model.AddressOf(addr))
		}
		c.lookLater(id, a)
	}
}

// Detach takes an interface out of a sandbox.
func (c *Checker) Detach(id, iface string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sb := c.sandboxes[id]; sb != nil {
		sb.Attachments = slices.DeleteFunc(slices.Clone(sb.Attachments), func(a model.Attachment) bool { return a.Interface == iface })
		c.sandboxesChanged(id)
	}
}

func (c *Checker) sandboxesChanged(id string) {
	c.changed = true
	c.touchLocked(model.Ref{Kind: model.RefContainer, Name: id})
	c.cache.sandboxesChanged()
}

// Device gives a node's own device an address, or takes it away. It counts as a
// sandbox of the node's, because it answers to the address as a pod would.
func (c *Checker) Device(node, handle string, addr netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.sandboxes[handle]; old != nil {
		if addr.IsValid() && slices.Contains(old.Attachments[0].Addrs, addr) {
			return
		}
		delete(c.sandboxes, handle)
	}
	c.sandboxesChanged(handle)
	if n := c.machines[node]; n == nil || !n.Up || !addr.IsValid() {
		return
	}
	c.sandboxes[handle] = &model.Sandbox{
		ID: handle, Pod: model.PodRef{Name: node}, Node: node, Since: c.w.Now(),
		Attachments: []model.Attachment{{Network: c.cfg.Primary, Interface: "tunnel", Addrs: []netip.Addr{addr}, Since: c.w.Now()}},
	}
}

// SandboxDown: its processes are gone.
func (c *Checker) SandboxDown(id, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sandboxDownLocked(id, why)
}

func (c *Checker) sandboxDownLocked(id, why string) {
	if sb := c.sandboxes[id]; sb != nil && !sb.Stopped {
		sb.Stopped = true
		c.cache.sandboxesChanged()
		c.recordLocked(model.Event{Kind: model.SandboxDown, Node: sb.Node, Pod: sb.Pod, Container: id, Text: why})
	}
}

// SandboxGone takes a sandbox away with the network namespace that it was.
func (c *Checker) SandboxGone(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sandboxGoneLocked(id)
}

// SandboxKept: a machine's runtime has a sandbox on record, until SandboxRemoved or
// RecordLost.
func (c *Checker) SandboxKept(node, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept[id] = node
}

// RecordLost: the record of a machine's runtime is lost.
func (c *Checker) RecordLost(node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.kept, func(_, on string) bool { return on == node })
}

// SandboxRemoved: the runtime forgets a sandbox, for which DEL is never called again.
func (c *Checker) SandboxRemoved(node string, pod model.PodRef, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.kept, id)
	c.sandboxGoneLocked(id)
	c.recordLocked(model.Event{Kind: model.SandboxRemoved, Node: node, Pod: pod, Container: id})
}

func (c *Checker) sandboxGoneLocked(id string) {
	if c.sandboxes[id] != nil {
		delete(c.sandboxes, id)
		c.sandboxesChanged(id)
	}
}

// lookLater has the truth checked when a DEL under way of a sandbox with one of these
// addresses must be done: nothing else need happen for that to become a duplicate.
// Called with mu held.
func (c *Checker) lookLater(id string, a model.Attachment) {
	leaves := func(other string, b *Call) bool {
		sb := c.sandboxes[other]
		return b.Del && sb != nil && slices.ContainsFunc(sb.Attachments, func(x model.Attachment) bool {
			return slices.ContainsFunc(x.Addrs, func(addr netip.Addr) bool { return slices.Contains(a.Addrs, addr) })
		})
	}
	contested := false
	for other, b := range c.calls {
		contested = contested || leaves(other, b)
	}
	if !contested {
		return
	}
	c.w.Spawn(sim.Process{ID: sim.ActorID("overlap/" + id + "/" + a.Interface), Run: func(ctx context.Context, g *sim.Gate) error {
		if !kubeapi.Sleep(ctx, invariant.Overlap+1) {
			return ctx.Err()
		}
		return g.Pass(ctx, sim.Op{Kind: sim.Local, Class: "overlap", Key: "LOOK", Request: &sim.Request{Verb: "LOOK"}}, func(context.Context) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.changed = true
			return nil
		})
	}})
}
