package checker

import (
	"maps"
	"slices"

	"ipamsim/model"
	"ipamsim/model/route"
	"ipamsim/sim/cluster/recorder"
)

// Machine is a machine with its own addresses.
type Machine = recorder.Machine

// Registered records whether a machine has a Node object. An unknown machine is new: it is off and
// has the addresses of m.
func (c *Checker) Registered(name string, m Machine, yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.machines[name] == nil {
		c.machines[name], c.cache.taken = &m, nil
	}
	c.machines[name].Registered = yes
}

// Machine is the state of a machine, the zero one of a machine that is not known.
func (c *Checker) Machine(name string) model.Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.machines[name]; n != nil {
		return n.Node
	}
	return model.Node{}
}

// Found is how a machine is at the start: with power or without.
func (c *Checker) Found(name string, up bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cache.taken = nil
	if c.machines[name].Up = up; !up {
		c.recordLocked(model.Event{Kind: model.NodeEvent, Node: name, Text: "off"})
	}
}

// PowerOn is a machine that is given power.
func (c *Checker) PowerOn(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.machines[name]
	n.Up, n.Since, c.cache.taken = true, c.w.Now(), nil
	c.recordLocked(model.Event{Kind: model.NodeEvent, Node: name, Text: "up"})
}

// PowerOff takes a machine's power away, with all sandboxes and calls.
func (c *Checker) PowerOff(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.machines[name]
	n.Up, n.Since, c.cache.taken = false, c.w.Now(), nil
	// Each by name and in order: otherwise an oracle that asks how long a claim has been
	// without its sandbox would get the time when the sandbox was last busy, which may be
	// hours before the power loss.
	for _, id := range slices.Sorted(maps.Keys(c.sandboxes)) {
		if c.sandboxes[id].Node == name {
			c.sandboxDownLocked(id, "power lost")
			c.sandboxGoneLocked(id)
		}
	}
	for id, b := range c.calls {
		if b.Node == name {
			delete(c.calls, id)
		}
	}
	c.recordLocked(model.Event{Kind: model.NodeEvent, Node: name, Text: "lost power"})
}

// Partitioned cuts a machine off from the API server, or gives the way back, and reports
// whether it was cut off.
func (c *Checker) Partitioned(name string, cut bool) (was bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, text := c.machines[name], "reachable again"
	if cut {
		text = "partitioned"
	}
	was, n.Partitioned, n.Since = n.Partitioned, cut, c.w.Now()
	c.recordLocked(model.Event{Kind: model.NodeEvent, Node: name, Text: text})
	return was
}

// Paused records that the processes of a machine are stopped, or continue. It ignores a name that
// is not a machine.
func (c *Checker) Paused(name string, on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.machines[name]; n != nil {
		n.Paused, n.Since = on, c.w.Now()
	}
}

// Session takes the BGP session between two speakers down, or lets it come up again. text and node
// describe the cause.
func (c *Checker) Session(s route.Session, down bool, node, text string) error {
	return c.reroute(node, text, func(r *routing) {
		r.down = slices.DeleteFunc(r.down, func(x route.Session) bool { return x == s || x == route.Session{A: s.B, B: s.A} })
		if down {
			r.down = append(r.down, s)
		}
	})
}

// BIRD stops a node's routing daemon, or starts it.
func (c *Checker) BIRD(node string, runs bool, text string) error {
	return c.reroute(node, text, func(r *routing) { r.quiet[node] = !runs })
}

// reroute changes the fabric.
func (c *Checker) reroute(node, text string, change func(*routing)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.routing == nil {
		return errNoRoutes
	}
	change(c.routing)
	c.recordLocked(model.Event{Kind: model.NodeEvent, Node: node, Text: text})
	return nil
}
