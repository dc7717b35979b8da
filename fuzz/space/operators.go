package space

import (
	"encoding/json"
	"time"

	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
)

// Act is one thing that happens to the cluster from outside: it draws its details
// and puts one entry or more into the timeline.
type Act struct {
	Weight int
	Do     func(w *World, at time.Duration)
}

// Operators draws what happens from outside, nothing in a third of the worlds, at
// any time until the script ends: what every cluster knows, and what the space
// has besides.
func (w *World) Operators(own ...Act) {
	all := append(own, everyday...)
	total := 0
	for _, a := range all {
		total += a.Weight
	}
	for range Pick(w.Choices, 0, 1, 2, 0, 1, 4) {
		n := w.Int(total)
		for _, a := range all {
			if n -= a.Weight; n < 0 {
				a.Do(w, w.Time())
				break
			}
		}
	}
}

// everyday is what happens to any cluster.
var everyday = []Act{
	{4, (*World).Scale}, {3, (*World).DeletePod}, {3, (*World).Redeploy}, {3, (*World).Crash}, {2, (*World).Reboot},
	{2, (*World).Replace}, {3, (*World).Partition}, {2, (*World).Pause}, {1, (*World).Drain}, {1, (*World).removeNode}, {1, (*World).KillKubelet},
}

// Time is any millisecond of the script.
func (w *World) Time() time.Duration {
	return time.Duration(w.Int(int(w.Until/time.Millisecond))) * time.Millisecond
}

// At puts an entry into the timeline, or drops it if the script is over by then.
func (w *World) At(t time.Duration, e scenarios.Event) {
	if t > w.Until {
		return
	}
	e.At.Duration = t
	w.Doc.Spec.Timeline = append(w.Doc.Spec.Timeline, e)
}

// Applied is kubectl apply.
func Applied(manifest object) scenarios.Event {
	b, err := json.Marshal(manifest)
	if err != nil {
		panic(err) // made of text, numbers and lists
	}
	return scenarios.Event{Action: &action.Apply{Object: b}}
}

// scaled is kubectl scale.
func scaled(l load, replicas int) scenarios.Event {
	return scenarios.Event{Action: &action.Scale{Kind: l.kind, Namespace: l.namespace, Name: l.name, Replicas: replicas}}
}

// Scale changes a workload's size, and changes it back soon in half of the cases.
func (w *World) Scale(at time.Duration) {
	l := Pick(w.Choices, w.loads...)
	if !l.scales() {
		return
	}
	w.At(at, scaled(l, w.Int(l.replicas+3)))
	if w.Chance(1, 2) {
		w.At(at+w.Duration(100*time.Millisecond, 10*time.Second), scaled(l, l.replicas))
	}
}

// DeletePod deletes a pod whose name can be known: a bare one, or a StatefulSet's.
func (w *World) DeletePod(at time.Duration) {
	l := Pick(w.Choices, w.loads...)
	switch force := w.Chance(1, 2); l.kind {
	case "Pod":
		w.At(at, deleted("pods", l, l.name, force))
		w.At(at+w.Duration(time.Millisecond, 4*time.Second), Applied(l.manifest))
	case "StatefulSet":
		w.At(at, deleted("pods", l, l.name+"-"+string(rune('0'+w.Int(min(l.replicas, 10)))), force))
	}
}

// Redeploy deletes a workload and brings it back under its name.
func (w *World) Redeploy(at time.Duration) {
	l := Pick(w.Choices, w.loads...)
	resource := map[string]string{"StatefulSet": "statefulsets", "Deployment": "deployments", "DaemonSet": "daemonsets", "Job": "jobs", "Pod": "pods"}[l.kind]
	w.At(at, deleted(resource, l, l.name, false))
	w.At(at+w.Duration(time.Millisecond, 4*time.Second), Applied(l.manifest))
}

func deleted(resource string, l load, name string, force bool) scenarios.Event {
	return scenarios.Event{Action: &action.Delete{Resource: resource, Namespace: l.namespace, Name: name, Force: force}}
}

// Crash takes a node's power, for good or for a while.
func (w *World) Crash(at time.Duration) {
	n := w.Node()
	w.At(at, scenarios.Event{Action: &action.Crash{Node: n, Forget: w.Chance(1, 2)}})
	if w.Chance(1, 2) {
		w.At(at+w.Duration(100*time.Millisecond, 20*time.Second), scenarios.Event{Action: &action.PowerOn{Node: n}})
	}
}

// Reboot turns a node off and on again.
func (w *World) Reboot(at time.Duration) {
	w.At(at, scenarios.Event{Action: &action.Reboot{Node: w.Node(), Down: Millis(w.Duration(50*time.Millisecond, 10*time.Second)), Forget: w.Chance(1, 2)}})
}

// Replace exchanges a machine, under its name or a new one, each at most once.
func (w *World) Replace(at time.Duration) {
	r := &action.ReplaceNode{Node: w.Node()}
	if w.Left[r.Node] {
		return
	}
	if r.KeepObject = w.Chance(1, 4); w.Chance(1, 2) {
		r.As = w.newcomer()
	}
	w.Leave(r.Node)
	w.At(at, scenarios.Event{Action: r})
}

// Partition cuts a node off, mostly for a while.
func (w *World) Partition(at time.Duration) {
	p := &action.Partition{Node: w.Node()}
	if w.Chance(3, 4) {
		p.For = Millis(w.Duration(200*time.Millisecond, 20*time.Second))
	}
	w.At(at, scenarios.Event{Action: p})
}

// Pause stops every process of a node, which then goes on with what it believes.
func (w *World) Pause(at time.Duration) {
	w.At(at, scenarios.Event{Action: &action.Pause{Actor: w.Node(), For: Millis(w.Duration(200*time.Millisecond, 20*time.Second))}})
}

// Drain empties a node and lets pods come back later.
func (w *World) Drain(at time.Duration) {
	n := w.Node()
	w.At(at, scenarios.Event{Action: &action.Drain{Node: n, Force: w.Chance(1, 2)}})
	w.At(at+w.Duration(100*time.Millisecond, 10*time.Second), scenarios.Event{Action: &action.Cordon{Node: n, Undo: true}})
}

// removeNode deletes a Node object while its machine runs on.
func (w *World) removeNode(at time.Duration) {
	n := w.Node()
	if w.Left[n] {
		return
	}
	w.Leave(n)
	w.At(at, scenarios.Event{Action: &action.Delete{Resource: "nodes", Name: n}})
}

// KillKubelet ends a kubelet; the service manager starts it again.
func (w *World) KillKubelet(at time.Duration) {
	w.At(at, scenarios.Event{Action: &action.Kill{Actor: "kubelet/" + w.Node()}})
}

func (w *World) Leave(node string) {
	if w.Left == nil {
		w.Left = map[string]bool{}
	}
	w.Left[node] = true
}
