package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/model/route"
	"ipamsim/sim"
	"ipamsim/sim/kube"
)

// Sight is what a cluster looks like before anything happens to it.
type Sight struct {
	Truth    model.Truth
	Record   model.Snapshot
	Networks []model.Network // the policy as the datastore has it
	Losses   []route.Loss    // once routes had their time
	// Routes: Losses were looked for. LeftOut are the nodes that were not asked: to
	// them each address that is in its place is reachable by the way of its block.
	Routes     bool
	LeftOut    int
	Violations []model.Violation // in the order of invariants, then objects
}

// Look judges what the manifests of a cluster say, without storing them and without a
// step. What is wrong now is judged as if it had been so for ever: leaked now is
// leaked, lost now is lost. Hooks are not touched.
//
// What is under way is not judged: a pod that has no address in its status may be in
// the middle of its ADD, and leaving says which pods are to go, so that their DEL may
// have run.
func Look(w *sim.World, cfg Config, leaving func(model.PodRef) bool) (*Sight, error) {
	if cfg.Manager.Read == nil {
		return nil, fmt.Errorf("cluster: %s: its record cannot be read without a run (ipam.Manager.Read)", cfg.Manager.Name)
	}
	c, err := blank(w, cfg)
	if err != nil {
		return nil, err
	}
	if c.judge.record, err = cfg.Manager.Read(cfg.Objects, c.judge.networks); err != nil {
		return nil, err
	}
	if err := c.imagine(cfg.Objects); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &Sight{Truth: c.snapshotLocked(), Record: c.judge.record, Networks: c.networksLocked()}
	underWay(&s.Truth, leaving)
	if n := model.NetworkByKey(c.judge.networks, cfg.Primary); n != nil && n.Blocks != nil {
		c.routing = &routing{quiet: map[string]bool{}, veths: map[model.PodRef]string{}}
		s.Routes = true
		s.Losses, s.LeftOut = c.settled()
	}
	s.Violations = AtRest(*s)
	return s, nil
}

// imagine knows the nodes and pods of manifests as if they were stored, and adopts
// what runs.
func (c *Cluster) imagine(objs []Object) error {
	on := map[string][]*corev1.Pod{}
	for _, o := range objs {
		switch o.Kind {
		case "Node":
			n := &corev1.Node{}
			if err := json.Unmarshal(o.Body, n); err != nil {
				return &Rejected{o, err}
			}
			c.mu.Lock()
			c.nodeChanged(kube.Change{Resource: "nodes", Name: o.Name, Object: n})
			c.mu.Unlock()
		case "Pod":
			p := &corev1.Pod{}
			if err := json.Unmarshal(o.Body, p); err != nil {
				return &Rejected{o, err}
			}
			p.Namespace, p.UID = o.Namespace, types.UID(o.Namespace+"/"+o.Name)
			c.mu.Lock()
			c.podChanged(kube.Change{Resource: "pods", Namespace: o.Namespace, Name: o.Name, Object: p})
			c.mu.Unlock()
			on[p.Spec.NodeName] = append(on[p.Spec.NodeName], p)
		}
	}
	for _, name := range c.nodeNames() {
		c.found(name)
		if err := c.adopt(name, on[name], nil); err != nil {
			return err
		}
	}
	return nil
}

// underWay adds the calls that may be running for pods that come or go.
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
		if p.Node != "" && !up[ref] && t.Nodes[p.Node].Up && p.Phase != "Succeeded" && p.Phase != "Failed" {
			t.Busy["pod "+ref.String()] = model.Busy{Pod: ref, Node: p.Node, Unseen: true}
		}
	}
}

// AtRest judges a sight by every invariant, at rest and with every bound passed. How
// long anything has been so, and what was before, it cannot know: no rule of the
// policy counts as older than what was done against it.
func AtRest(s Sight) []model.Violation {
	v := invariant.View{
		Truth: timeless(s.Truth), Record: s.Record, Networks: s.Networks, Losses: s.Losses, History: &model.History{},
		Settings: invariant.Settings{LeakAfter: 1, BlackholeAfter: 1},
	}
	var past invariant.Past
	past.Note(v)
	v.Truth.At += longRest
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
