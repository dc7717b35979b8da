package checker

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/ipam"
)

// Call is one CNI call under way: the process that executes it, and the data to check its end.
type Call struct {
	model.Busy
	Call   ipam.Call
	By     sim.ActorID   // the process that waits for it
	Plugin *sim.Actor    // nil before it was started
	Lost   chan struct{} // closed when the runtime that executed it is gone

	pools     []string // that the pod's last ADD asked for
	minFree   int      // the least number of addresses left free at any time during it, of these pools
	disturbed bool     // a fault met it, or a message of the manager's took long while it was under way
}

// Begin records a call whose plugin is about to start.
func (c *Checker) Begin(call ipam.Call, del bool, by sim.ActorID) *Call {
	b := &Call{
		Busy: model.Busy{Pod: call.Pod, Node: call.Node, Interface: call.Interface, Del: del, Since: c.w.Now()},
		Call: call, By: by, Lost: make(chan struct{}),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if last, _ := c.history.Added(call.Pod); last != nil {
		b.pools = last.Pools
	}
	b.minFree = c.free(call.Network, call.Node, b.pools)
	c.calls[call.Container] = b
	return b
}

// Begun records that the plugin of a call runs.
func (c *Checker) Begun(b *Call, plugin *sim.Actor) {
	b.Plugin = plugin
	kind := model.AddBegin
	if b.Del {
		kind = model.DelBegin
	}
	c.Record(event(kind, plugin, b.Call))
}

// Drop forgets a call that has no waiter left.
func (c *Checker) Drop(b *Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls[b.Call.Container] == b {
		delete(c.calls, b.Call.Container)
	}
}

// CutOff ends calls for the processes that wait for them, in the order of their containers.
// end stops the plugin of a call and returns the reason.
func (c *Checker) CutOff(which func(*Call) bool, end func(*Call) error) {
	c.mu.Lock()
	var cut []*Call
	for _, id := range slices.Sorted(maps.Keys(c.calls)) {
		if b := c.calls[id]; b.Plugin != nil && which(b) {
			cut = append(cut, b)
		}
	}
	c.mu.Unlock()
	for _, b := range cut {
		kind := model.AddEnd
		if b.Del {
			kind = model.DelEnd
		}
		e := c.End(kind, b.Plugin, b.Call, end(b))
		e.Disturbed, e.Site = true, model.CallSite{}
		c.Record(e)
	}
}

func event(kind model.EventKind, a *sim.Actor, call ipam.Call) model.Event {
	return model.Event{
		Kind: kind, Actor: string(a.ID), Node: call.Node, Pod: call.Pod,
		Container: call.Container, Network: call.Network, Interface: call.Interface,
	}
}

// End removes a call from those under way and returns the event of its end. The caller
// completes and records the event.
func (c *Checker) End(kind model.EventKind, a *sim.Actor, call ipam.Call, err error) model.Event {
	e := event(kind, a, call)
	c.mu.Lock()
	defer c.mu.Unlock()
	e.Begun, e.Disturbed = c.w.Now(), true
	killed := errors.Is(err, sim.ErrKilled)
	e.TimedOut = killed && errors.Is(err, context.DeadlineExceeded)
	var pools []string
	if b := c.calls[call.Container]; b != nil {
		e.Begun, e.MinFree, pools = b.Since, b.minFree, b.pools
		e.Disturbed = b.disturbed || killed && !e.TimedOut || errors.As(err, new(*ipam.Unasked)) || !c.wellSince(call.Node, b.Since) || c.w.Waits(func(op sim.Op) bool { return op.Kind != sim.Event && c.long(op) })
		delete(c.calls, call.Container)
	}
	if err != nil {
		e.Err, e.Site = err.Error(), c.lastSite(a.ID, e.Begun)
		e.Exhausted, e.Asked = errors.Is(err, ipam.ErrExhausted), errors.Is(err, ipam.ErrAsked)
	}
	var asked *ipam.PoolsError
	if errors.As(err, &asked) {
		e.Pools = asked.Pools
	}
	if !slices.Equal(e.Pools, pools) {
		e.MinFree = 0 // the count was of other pools
	}
	if errors.As(err, new(*ipam.Faulted)) {
		e.Disturbed, e.Site = true, model.CallSite{}
	}
	return e
}

// wellSince reports whether a machine has been healthy since then. Called with mu held.
func (c *Checker) wellSince(node string, since time.Duration) bool {
	n := c.machines[node]
	return n != nil && n.WellSince(since)
}

// lastSite is the line of upstream that sent the last message of a process since then.
func (c *Checker) lastSite(id sim.ActorID, since time.Duration) model.CallSite {
	steps := c.w.Trace().Steps
	for i := len(steps) - 1; i >= 0 && steps[i].At >= since; i-- {
		if op := &steps[i].Choice.Op; op.Actor == id && (op.Kind == sim.Read || op.Kind == sim.Write) {
			return c.cfg.Site(steps[i].Stack)
		}
	}
	return model.CallSite{}
}

// longMessage is a duration of a message after which a call may exceed its deadline or that
// of a process that it waits for. Upstream's shortest deadline is ten seconds.
const longMessage = time.Second

// long reports whether a message of the manager has taken longer than longMessage. The
// message has just been delivered or withdrawn, or still waits. Called with mu held.
func (c *Checker) long(op sim.Op) bool {
	return c.Theirs(op.Actor) && op.Kind != sim.Local && c.w.Now()-op.Sent > longMessage
}

// stepDisturbs marks the calls under way that a step disturbs: the call that a fault
// affects, and all calls if a request took long. A background process whose message took
// long is late with all its work.
func (c *Checker) stepDisturbs(s *sim.Step) {
	c.mu.Lock()
	defer c.mu.Unlock()
	op := &s.Choice.Op
	fault, long := s.Choice.Outcome.Fault(), c.long(*op)
	if long && background(op.Actor) {
		c.late = c.w.Now()
	}
	if long || fault {
		c.hold(op.Actor, c.w.Now()+unanswered(&s.Choice))
	}
	if request := long && op.Kind != sim.Event; fault || request {
		c.disturb(func(b *Call) bool { return request || b.Plugin != nil && b.Plugin.ID == op.Actor })
	}
}

// The kinds of processes that are executions of the CNI plugin.
const (
	AddKind = "cni-add"
	DelKind = "cni-del"
)

// background reports whether a process of the manager's is no execution of the plugin.
func background(id sim.ActorID) bool { return id.Kind() != AddKind && id.Kind() != DelKind }

// behind records that a background process waits for a message that takes long.
func (c *Checker) behind() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.w.Waits(func(op sim.Op) bool { return background(op.Actor) && c.long(op) }) {
		c.late = c.w.Now()
	}
}

// Withdrawn is for sim.Hooks.Withdrawn.
func (c *Checker) Withdrawn(op sim.Op) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.long(op) {
		if background(op.Actor) {
			c.gaveUp = c.w.Now()
		}
		c.disturb(func(*Call) bool { return true })
	}
}

func (c *Checker) disturb(which func(*Call) bool) {
	for _, b := range c.calls {
		if which(b) {
			b.disturbed = true
		}
	}
}
