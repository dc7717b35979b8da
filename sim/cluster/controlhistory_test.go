package cluster_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/cluster/kubeapi"
)

// history is a cluster and the script of operators and faults in it.
type history struct {
	free    bool // its workload is not bound to nodes
	objects []cluster.Object
	script  []cluster.Entry
	until   time.Duration
}

func (h history) String() string {
	var b strings.Builder
	for _, o := range h.objects {
		fmt.Fprintf(&b, "%s\n", o.Body)
	}
	for _, e := range h.script {
		fmt.Fprintf(&b, "%v %s\n", e.At, e.Action)
	}
	fmt.Fprintf(&b, "until %v", h.until)
	return b.String()
}

// nodesLost reports whether something becomes of nodes that controllers notice in their time.
func (h history) nodesLost() bool {
	return slices.ContainsFunc(h.script, func(e cluster.Entry) bool {
		_, lost := e.Action.(onNode)
		return lost && e.Action.(onNode).slow
	})
}

func (h *history) add(kind, name string, body map[string]any) {
	body["kind"], body["apiVersion"] = kind, map[string]string{"Node": "v1", "Pod": "v1", "Job": "batch/v1"}[kind]
	if body["apiVersion"] == "" {
		body["apiVersion"] = "apps/v1"
	}
	m, _ := body["metadata"].(map[string]any)
	if m == nil {
		m = map[string]any{}
	}
	m["name"] = name
	body["metadata"] = m
	o := cluster.Object{Kind: kind, Name: name}
	if kind != "Node" {
		m["namespace"], o.Namespace = "default", "default"
	}
	o.Body, _ = json.Marshal(body)
	h.objects = append(h.objects, o)
}

// painter draws a history.
type painter struct {
	*rapid.T
	h      history
	nodes  []string
	names  []workload
	clocks []time.Duration // when nodes were lost

	touched bool // something has happened to a node
}

type workload struct {
	kind, name string
	replicas   int
	ordered    bool // each of its pods waits for the one before it
}

func (p *painter) one(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(p.T, label)
}
func (p *painter) number(label string, from, to int) int {
	return rapid.IntRange(from, to).Draw(p.T, label)
}
func (p *painter) some(label string) bool { return rapid.Bool().Draw(p.T, label) }

func draw(t *rapid.T) history {
	p := &painter{T: t}
	p.h.free = p.some("free")
	for i := range p.number("nodes", 1, 3) {
		name := string(rune('a' + i))
		p.nodes = append(p.nodes, name)
		p.h.objects = append(p.h.objects, cluster.Object{Kind: "Node", Name: name, Body: kubeapi.NodeManifest(name, map[string]string{corev1.LabelHostname: name})})
	}
	if p.h.free {
		p.workload("web", p.one("kind", "Deployment", "StatefulSet", "Job"))
	} else {
		for i := range p.number("workloads", 1, 3) {
			p.workload(fmt.Sprint("w", i), p.one("kind", "Deployment", "StatefulSet", "Job", "DaemonSet", "Pod"))
		}
	}
	now := 40 * time.Second
	for range p.number("actions", 0, 4) {
		now = p.step(now)
	}
	p.h.until = now + 10*time.Minute
	return p.h
}

// workload draws one with its pods.
func (p *painter) workload(name, kind string) {
	spec := map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}, "terminationGracePeriodSeconds": p.number("grace", 0, 1) * 10}
	meta := map[string]any{"labels": map[string]any{"app": name}}
	p.tolerations(spec)
	w := workload{kind: kind, name: name, replicas: 1}
	switch {
	case kind == "Pod":
		spec["nodeName"] = p.one("node", p.nodes...)
		p.h.add("Pod", name, map[string]any{"metadata": meta, "spec": spec})
		p.names = append(p.names, w)
		return
	case kind != "DaemonSet" && !p.h.free:
		p.pinned(spec)
	}
	w.replicas = p.number("replicas", 1, len(p.nodes))
	body := map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": name}}, "template": map[string]any{"metadata": meta, "spec": spec}}
	switch kind {
	case "Deployment":
		body["replicas"] = w.replicas
		if p.some("recreate") {
			body["strategy"] = map[string]any{"type": "Recreate"}
		}
	case "StatefulSet":
		body["replicas"], body["serviceName"] = w.replicas, name
		if w.ordered = !p.some("parallel"); !w.ordered {
			body["podManagementPolicy"] = "Parallel"
		}
	case "Job":
		delete(body, "selector")
		if p.h.free { // nothing spreads the pods of a Job: on which node two of them are is drawn
			w.replicas = 1
		}
		body["completions"], body["parallelism"], body["backoffLimit"] = w.replicas, p.number("parallelism", 1, 2), p.number("limit", 0, 2)
		spec["restartPolicy"] = "Never"
		codes := []string{"0", "1"}
		meta["annotations"] = map[string]any{"ipamsim.dev/exit-code": p.one("exit", codes[:2-number(p.h.free)]...)}
	}
	p.names = append(p.names, w)
	p.h.add(kind, name, map[string]any{"spec": body})
}

func (p *painter) pinned(spec map[string]any) {
	node := p.one("node", p.nodes...)
	if p.some("selector") {
		spec["nodeSelector"] = map[string]any{corev1.LabelHostname: node}
		return
	}
	spec["affinity"] = map[string]any{"nodeAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": map[string]any{
		"nodeSelectorTerms": []any{map[string]any{"matchExpressions": []any{map[string]any{"key": corev1.LabelHostname, "operator": "In", "values": []any{node}}}}},
	}}}
}

func (p *painter) tolerations(spec map[string]any) {
	silent := map[string]any{"key": corev1.TaintNodeUnreachable, "operator": "Exists", "effect": "NoExecute"}
	switch p.one("tolerates", "", "", "for a while", "for ever", "everything", "team") {
	case "for a while":
		// Not for no time: really a node that is back takes pods some seconds before its last
		// taint goes, which deletes them again and again.
		silent["tolerationSeconds"] = 30
		spec["tolerations"] = []any{silent}
	case "for ever":
		spec["tolerations"] = []any{silent}
	case "everything":
		spec["tolerations"] = []any{map[string]any{"operator": "Exists"}}
	case "team":
		spec["tolerations"] = []any{map[string]any{"key": "team", "operator": "Exists"}}
	}
}

// onNode is an action on a node that is named, or, in a world of one free workload, that
// has the most pods but some.
type onNode struct {
	what string
	node string
	rank int
	slow bool // controllers notice in their time
	do   func(node string) cluster.Action
}

// Do finds the node.
func (a onNode) Do(ctx context.Context, o *cluster.Operator) error {
	node := a.node
	if node == "" {
		all := o.Cluster.Nodes()
		of := func(n string) string { // the name of its first pod, which distinguishes the pods of a StatefulSet
			for _, p := range o.Cluster.Cache.PodsOn(n) {
				return p.Labels["statefulset.kubernetes.io/pod-name"]
			}
			return ""
		}
		slices.SortStableFunc(all, func(x, y string) int {
			return cmp.Or(cmp.Compare(len(o.Cluster.Cache.PodsOn(y)), len(o.Cluster.Cache.PodsOn(x))), cmp.Compare(of(x), of(y)))
		})
		node = all[a.rank]
	}
	return a.do(node).Do(ctx, o)
}

func (a onNode) String() string {
	if a.node == "" {
		return fmt.Sprintf("%s the node with the most pods but %d", a.what, a.rank)
	}
	return a.what + " " + a.node
}

// step draws what happens next, and when; it returns when that is over.
func (p *painter) step(now time.Duration) time.Duration {
	kinds := []string{"scale", "rollout", "delete", "kill", "cordon", "taint", "crash", "delete node", "replace node"}
	if p.h.free && p.touched { // the order in which something happened to two equal nodes is random
		kinds = kinds[:4]
	}
	now = p.clear(now + time.Duration(rapid.SampledFrom([]int{10, 30, 120, 600}).Draw(p.T, "pause"))*time.Second)
	w := rapid.SampledFrom(p.names).Draw(p.T, "workload")
	add := func(at time.Duration, a cluster.Action) {
		p.h.script = append(p.h.script, cluster.Entry{At: at, Action: a})
	}
	plural := strings.ToLower(w.kind) + "s"
	switch what := p.one("what", kinds...); what {
	case "scale":
		if w.kind == "Deployment" || w.kind == "StatefulSet" {
			to := p.number("to", 0, len(p.nodes))
			if p.h.free && w.kind == "Deployment" && to > 0 {
				to = len(p.nodes) // which of several is removed is random
			}
			add(now, &action.Scale{Kind: w.kind, Name: w.name, Replicas: to})
			i := slices.IndexFunc(p.names, func(x workload) bool { return x.name == w.name })
			p.names[i].replicas = max(w.replicas, to)
		}
	case "rollout":
		if w.kind != "Pod" && w.kind != "Job" {
			add(now, &action.Patch{Resource: plural, Name: w.name, Merge: map[string]any{"spec": map[string]any{"template": map[string]any{
				"metadata": map[string]any{"annotations": map[string]any{"v": p.one("version", "1", "2")}}}}}})
		}
	case "delete":
		add(now, &action.Delete{Resource: plural, Name: w.name})
	case "kill":
		if w.kind == "StatefulSet" {
			add(now, &action.Delete{Resource: "pods", Name: w.name + "-0", Force: p.some("force")})
		}
	case "cordon":
		add(now, p.onNode(what, false, func(n string) cluster.Action { return &action.Cordon{Node: n} }))
	case "taint":
		effect := p.one("effect", "NoSchedule", "NoExecute")
		// The order of evictions of a node's pods is random (ByIndex of client-go's
		// thread_safe_store.go ranges over a map), and web-1 is created again only while web-0
		// exists.
		if slices.ContainsFunc(p.names, func(w workload) bool { return w.ordered && w.replicas > 1 }) {
			effect = "NoSchedule"
		}
		add(now, p.onNode("taint "+effect, false, func(n string) cluster.Action {
			return &action.Patch{Resource: "nodes", Name: n, Merge: map[string]any{"spec": map[string]any{"taints": []any{map[string]any{"key": "team", "effect": effect}}}}}
		}))
	case "delete node", "replace node":
		if slices.ContainsFunc(p.names, func(w workload) bool { return w.kind == "StatefulSet" && w.replicas > 1 }) {
			return now // whether the second goes before the first is missed is drawn
		}
		p.clocks = append(p.clocks, now)
		add(now, p.gone(what))
	case "crash":
		p.clocks = append(p.clocks, now)
		lost := p.onNode(what, true, func(n string) cluster.Action { return &action.Crash{Node: n} })
		add(now, lost)
		if d := time.Duration(rapid.SampledFrom([]int{20, 150, 480, 0}).Draw(p.T, "for")) * time.Second; d > 0 && lost.node != "" {
			back := p.onNode("power on", true, func(n string) cluster.Action { return &action.PowerOn{Node: n} })
			back.node = lost.node
			now = p.clear(now + d)
			add(now, back)
		}
	}
	return now
}

// gone is the loss of a node with its object. If the node is replaced, both come back
// immediately.
func (p *painter) gone(what string) onNode {
	if what == "replace node" {
		return p.onNode(what, true, func(n string) cluster.Action { return &action.ReplaceNode{Node: n} })
	}
	return p.onNode("crash and delete", true, func(n string) cluster.Action {
		return both{&action.Crash{Node: n}, &action.Delete{Resource: "nodes", Name: n}}
	})
}

func (p *painter) onNode(what string, slow bool, do func(string) cluster.Action) onNode {
	p.touched = true
	a := onNode{what: what, slow: slow, do: do}
	if p.h.free {
		a.rank = p.number("rank", 0, len(p.nodes)-1)
	} else {
		a.node = p.one("node", p.nodes...)
	}
	return a
}

// clear moves a time away from the moments at which a lost node is noticed or its pods are deleted:
// the order would be random then.
func (p *painter) clear(at time.Duration) time.Duration {
	for slices.ContainsFunc(p.clocks, func(lost time.Duration) bool {
		d := at - lost
		return d > 30*time.Second && d < 140*time.Second || d > 260*time.Second && d < 420*time.Second
	}) {
		at += 10 * time.Second
	}
	return at
}

// both are two actions in turn.
type both struct{ first, second cluster.Action }

func (b both) Do(ctx context.Context, o *cluster.Operator) error {
	if err := b.first.Do(ctx, o); err != nil {
		return err
	}
	return b.second.Do(ctx, o)
}

func (b both) String() string { return b.first.String() + ", " + b.second.String() }

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}
