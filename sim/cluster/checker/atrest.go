package checker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/model/route"
)

// Snapshot is the state of a cluster before its first step.
type Snapshot struct {
	Truth    model.Truth
	Record   model.Snapshot
	Networks []model.Network // the policy as the datastore has it
	Losses   []route.Loss    // once routes had their time
	// Routes: Losses were computed. LeftOut is the number of nodes that were not checked: they
	// reach each address in a block of its own node by the route of the block.
	Routes     bool
	LeftOut    int
	Violations []model.Violation // in the order of invariants, then objects
}

// Snapshot is the truth and the record now, unjudged. Call it on the root goroutine:
// from a hook of the world.
func (c *Checker) Snapshot() (*Snapshot, error) {
	rec, err := c.cfg.Observe(context.Background())
	if err != nil {
		return nil, fmt.Errorf("cluster: observe: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recorded, c.revision = rec, c.cfg.Revision()
	s := c.sight()
	if s.Routes = c.routing != nil; s.Routes {
		s.Losses, s.LeftOut = c.settled()
	}
	return s, nil
}

func (c *Checker) sight() *Snapshot {
	return &Snapshot{Truth: c.snapshotLocked(), Record: c.recorded, Networks: c.networksLocked()}
}

// CheckRecord checks the truth against a record without a step, as in Sight.Violations.
//
// Calls that may be under way are not checked: a pod without an address in its status may be
// in the middle of its ADD, unless it has waited for longer (model.Pod.Waits). leaving
// reports the pods that are to be deleted, whose DEL may have run.
func (c *Checker) CheckRecord(record model.Snapshot, leaving func(model.PodRef) bool) *Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recorded = record
	s := c.sight()
	underWay(&s.Truth, leaving)
	if n := model.NetworkByKey(c.cfg.Networks, c.cfg.Primary); n != nil && n.Blocks != nil {
		c.routing = &routing{quiet: map[string]bool{}, veths: map[model.PodRef]string{}}
		s.Routes = true
		s.Losses, s.LeftOut = c.settled()
	}
	s.Violations = AtRest(*s)
	return s
}

// underWay adds the calls that may be running for pods that start or leave.
func underWay(t *model.Truth, leaving func(model.PodRef) bool) {
	up := map[model.PodRef]bool{}
	t.Pods = maps.Clone(t.Pods)
	for ref, p := range t.Pods {
		if leaving != nil && leaving(ref) {
			p.Deleting = true
			t.Pods[ref] = p
		}
	}
	for i := range t.Sandboxes {
		s := &t.Sandboxes[i]
		if up[s.Pod] = true; leaving != nil && leaving(s.Pod) {
			t.Busy[s.ID] = model.Busy{Pod: s.Pod, Node: s.Node, Del: true}
		}
	}
	for ref, p := range t.Pods {
		if p.Node != "" && !up[ref] && !p.Waits && t.Nodes[p.Node].Up && p.Phase != "Succeeded" && p.Phase != "Failed" {
			t.Busy["pod "+ref.String()] = model.Busy{Pod: ref, Node: p.Node, Unseen: true}
		}
	}
}

// AtRest checks a snapshot by every invariant, as if the cluster were at rest and every grace
// period had passed. A snapshot has no history: no rule of the policy counts as older than
// the allocations that break it.
func AtRest(s Snapshot) []model.Violation {
	v := invariant.View{
		Truth: timeless(s.Truth), Record: s.Record, Networks: s.Networks, Losses: s.Losses, History: &model.History{},
		Settings: invariant.Settings{LeakAfter: 1, BlackholeAfter: 1},
	}
	var past invariant.Past
	past.Note(v)
	past.Rest()
	v.Truth.At += longRest
	for id, b := range v.Truth.Busy { // a DEL in progress has no known start
		if b.Del {
			b.Since = v.Truth.At
			v.Truth.Busy[id] = b
		}
	}
	v.Past = &past
	v = v.Indexed()
	var out []model.Violation
	for _, inv := range invariant.All() {
		for _, x := range inv.Check(v) {
			x.Message = inv.Say(&x)
			out = append(out, x)
		}
	}
	return out
}

// timeless is the truth without the times since when things are so.
func timeless(t model.Truth) model.Truth {
	t.At, t.Sandboxes, t.Pods, t.Nodes, t.Busy = 0, slices.Clone(t.Sandboxes), maps.Clone(t.Pods), maps.Clone(t.Nodes), maps.Clone(t.Busy)
	for i := range t.Sandboxes {
		s := &t.Sandboxes[i]
		s.Since, s.Attachments = 0, slices.Clone(s.Attachments)
		for j := range s.Attachments {
			s.Attachments[j].Since = 0
		}
	}
	for ref, p := range t.Pods {
		p.Since = 0
		t.Pods[ref] = p
	}
	for name, n := range t.Nodes {
		n.Since = 0
		t.Nodes[name] = n
	}
	for id, b := range t.Busy {
		b.Since = 0
		t.Busy[id] = b
	}
	return t
}

// longRest is longer than anything that an invariant allows for.
const longRest = time.Hour
