package space

import (
	"encoding/json"
	"time"

	"ipamsim/scenarios"
	"ipamsim/sim/cluster"
)

// act is one thing that happens to the cluster from outside: it draws its details
// and puts one entry or more into the timeline.
type act struct {
	weight int
	do     func(w *world, at time.Duration)
}

// operators draws what happens from outside, nothing in a third of the worlds, at
// any time until the script ends: what every cluster knows, and what the space
// has besides.
func (w *world) operators(own ...act) {
	all := append(own, everyday...)
	total := 0
	for _, a := range all {
		total += a.weight
	}
	for range Pick(w.Choices, 0, 1, 2, 0, 1, 4) {
		n := w.Int(total)
		for _, a := range all {
			if n -= a.weight; n < 0 {
				a.do(w, w.time())
				break
			}
		}
	}
}

// everyday is what happens to any cluster.
var everyday = []act{
	{4, (*world).scale}, {3, (*world).deletePod}, {3, (*world).redeploy}, {3, (*world).crash}, {2, (*world).reboot},
	{2, (*world).replace}, {3, (*world).partition}, {2, (*world).pause}, {1, (*world).drain}, {1, (*world).removeNode}, {1, (*world).killKubelet},
}

// time is any millisecond of the script.
func (w *world) time() time.Duration {
	return time.Duration(w.Int(int(w.until/time.Millisecond))) * time.Millisecond
}

// at puts an entry into the timeline, or drops it if the script is over by then.
func (w *world) at(t time.Duration, e scenarios.Event) {
	if t > w.until {
		return
	}
	e.At.Duration = t
	w.doc.Spec.Timeline = append(w.doc.Spec.Timeline, e)
}

// applied is kubectl apply.
func applied(manifest object) scenarios.Event {
	b, err := json.Marshal(manifest)
	if err != nil {
		panic(err) // made of text, numbers and lists
	}
	return scenarios.Event{Apply: &cluster.Apply{Object: b}}
}

// scaled is kubectl scale.
func scaled(l load, replicas int) scenarios.Event {
	return scenarios.Event{Scale: &cluster.Scale{Kind: l.kind, Namespace: l.namespace, Name: l.name, Replicas: replicas}}
}

// scale changes a workload's size, and changes it back soon in half of the cases.
func (w *world) scale(at time.Duration) {
	l := Pick(w.Choices, w.loads...)
	if !l.scales() {
		return
	}
	w.at(at, scaled(l, w.Int(l.replicas+3)))
	if w.Chance(1, 2) {
		w.at(at+w.Duration(100*time.Millisecond, 10*time.Second), scaled(l, l.replicas))
	}
}

// deletePod deletes a pod whose name can be known: a bare one, or a StatefulSet's.
func (w *world) deletePod(at time.Duration) {
	l := Pick(w.Choices, w.loads...)
	switch force := w.Chance(1, 2); l.kind {
	case "Pod":
		w.at(at, deleted("pods", l, l.name, force))
		w.at(at+w.Duration(time.Millisecond, 4*time.Second), applied(l.manifest))
	case "StatefulSet":
		w.at(at, deleted("pods", l, l.name+"-"+string(rune('0'+w.Int(min(l.replicas, 10)))), force))
	}
}

// redeploy deletes a workload and brings it back under its name.
func (w *world) redeploy(at time.Duration) {
	l := Pick(w.Choices, w.loads...)
	resource := map[string]string{"StatefulSet": "statefulsets", "Deployment": "deployments", "DaemonSet": "daemonsets", "Job": "jobs", "Pod": "pods"}[l.kind]
	w.at(at, deleted(resource, l, l.name, false))
	w.at(at+w.Duration(time.Millisecond, 4*time.Second), applied(l.manifest))
}

func deleted(resource string, l load, name string, force bool) scenarios.Event {
	return scenarios.Event{Delete: &cluster.Delete{Resource: resource, Namespace: l.namespace, Name: name, Force: force}}
}

// crash takes a node's power, for good or for a while.
func (w *world) crash(at time.Duration) {
	n := w.node()
	w.at(at, scenarios.Event{Crash: &cluster.Crash{Node: n, Forget: w.Chance(1, 2)}})
	if w.Chance(1, 2) {
		w.at(at+w.Duration(100*time.Millisecond, 20*time.Second), scenarios.Event{PowerOn: &cluster.PowerOn{Node: n}})
	}
}

// reboot turns a node off and on again.
func (w *world) reboot(at time.Duration) {
	w.at(at, scenarios.Event{Reboot: &cluster.Reboot{Node: w.node(), Down: ms(w.Duration(50*time.Millisecond, 10*time.Second)), Forget: w.Chance(1, 2)}})
}

// replace exchanges a machine, under its name or a new one, each at most once.
func (w *world) replace(at time.Duration) {
	r := &cluster.ReplaceNode{Node: w.node()}
	if w.left[r.Node] {
		return
	}
	if r.KeepObject = w.Chance(1, 4); w.Chance(1, 2) {
		r.As = w.newcomer()
	}
	w.leave(r.Node)
	w.at(at, scenarios.Event{Replace: r})
}

// partition cuts a node off, mostly for a while.
func (w *world) partition(at time.Duration) {
	p := &cluster.Partition{Node: w.node()}
	if w.Chance(3, 4) {
		p.For = ms(w.Duration(200*time.Millisecond, 20*time.Second))
	}
	w.at(at, scenarios.Event{Partition: p})
}

// pause stops every process of a node, which then goes on with what it believes.
func (w *world) pause(at time.Duration) {
	w.at(at, scenarios.Event{Pause: &cluster.Pause{Actor: w.node(), For: ms(w.Duration(200*time.Millisecond, 20*time.Second))}})
}

// drain empties a node and lets pods come back later.
func (w *world) drain(at time.Duration) {
	n := w.node()
	w.at(at, scenarios.Event{Drain: &cluster.Drain{Node: n, Force: w.Chance(1, 2)}})
	w.at(at+w.Duration(100*time.Millisecond, 10*time.Second), scenarios.Event{Cordon: &cluster.Cordon{Node: n, Undo: true}})
}

// removeNode deletes a Node object while its machine runs on.
func (w *world) removeNode(at time.Duration) {
	n := w.node()
	if w.left[n] {
		return
	}
	w.leave(n)
	w.at(at, scenarios.Event{Delete: &cluster.Delete{Resource: "nodes", Name: n}})
}

// killKubelet ends a kubelet; the service manager starts it again.
func (w *world) killKubelet(at time.Duration) {
	w.at(at, scenarios.Event{Kill: &cluster.Kill{Actor: "kubelet/" + w.node()}})
}

func (w *world) leave(node string) {
	if w.left == nil {
		w.left = map[string]bool{}
	}
	w.left[node] = true
}
