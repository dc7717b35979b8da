package cluster

import (
	"errors"
	"time"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/ipam"
)

// callEnd takes a call off those under way and says how it has ended.
func (c *Cluster) callEnd(kind model.EventKind, a *sim.Actor, call ipam.Call, err error) model.Event {
	e := c.event(kind, a, call)
	c.mu.Lock()
	defer c.mu.Unlock()
	e.Begun, e.Disturbed = c.w.Now(), true
	if b := c.truth.busy[call.Container]; b != nil {
		e.Begun, e.MinFree = b.Since, b.minFree
		e.Disturbed = b.disturbed || errors.Is(err, sim.ErrKilled) || !c.wellSince(call.Node, b.Since) || c.w.Waits(func(op sim.Op) bool { return op.Kind != sim.Event && c.long(op) })
		delete(c.truth.busy, call.Container)
	}
	if err != nil {
		e.Err, e.Site = err.Error(), c.lastSite(a.ID, e.Begun)
	}
	return e
}

// wellSince reports whether a machine has been healthy since then. Called with mu held.
func (c *Cluster) wellSince(node string, since time.Duration) bool {
	n := c.nodes[node]
	return n != nil && n.state.Healthy() && n.state.Since <= since
}

// lastSite is upstream's line that sent a process's last message since then.
func (c *Cluster) lastSite(id sim.ActorID, since time.Duration) model.CallSite {
	steps := c.w.Trace().Steps
	for i := len(steps) - 1; i >= 0 && steps[i].At >= since; i-- {
		if op := &steps[i].Choice.Op; op.Actor == id && (op.Kind == sim.Read || op.Kind == sim.Write) {
			return c.judge.site(steps[i].Stack)
		}
	}
	return model.CallSite{}
}

// longMessage is so long that calls may run out of their deadlines, their own or that of
// somebody they wait for: of upstream's the shortest is ten seconds.
const longMessage = time.Second

// long reports whether a message of the manager's takes long, which has been delivered
// now, or taken back, or waits still. Called with mu held.
func (c *Cluster) long(op sim.Op) bool {
	return c.theirs(op.Actor) && op.Kind != sim.Local && c.w.Now()-op.Sent > longMessage
}

// stepDisturbs notes the calls under way that a step disturbs: the one that a fault
// meets, and all of them if a request took long. A background process whose message took
// long is behind with all that it does.
func (c *Cluster) stepDisturbs(s *sim.Step) {
	c.mu.Lock()
	defer c.mu.Unlock()
	op := &s.Choice.Op
	fault, long := s.Choice.Outcome.Fault(), c.long(*op)
	if long && background(op.Actor) {
		c.judge.late = c.w.Now()
	}
	if long || fault {
		c.hold(op.Actor, c.w.Now()+unanswered(&s.Choice))
	}
	if request := long && op.Kind != sim.Event; fault || request {
		c.disturb(func(b *cniCall) bool { return request || b.plugin != nil && b.plugin.ID == op.Actor })
	}
}

// background reports whether a process of the manager's is no execution of the plugin.
func background(id sim.ActorID) bool { return id.Kind() != addKind && id.Kind() != delKind }

// behind notes that a background process waits for a message that takes long.
func (c *Cluster) behind() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.w.Waits(func(op sim.Op) bool { return background(op.Actor) && c.long(op) }) {
		c.judge.late = c.w.Now()
	}
}

// withdrawn is sim.Hooks.Withdrawn.
func (c *Cluster) withdrawn(op sim.Op) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.long(op) {
		c.disturb(func(*cniCall) bool { return true })
	}
}

func (c *Cluster) disturb(which func(*cniCall) bool) {
	for _, b := range c.truth.busy {
		if which(b) {
			b.disturbed = true
		}
	}
}
