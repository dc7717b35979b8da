package space

import (
	"encoding/json"
	"time"

	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
)

// Act is an action from outside of the cluster: Do draws its details and adds entries to the timeline.
type Act struct {
	Weight int
	Do     func(w *World, at time.Duration)
}

// Operators draws actions from outside at any time of the script: none in a third of the worlds, otherwise
// actions that occur in every cluster, and the space's own.
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

// everyday are actions that occur in every cluster.
var everyday = []Act{
	{4, (*World).Scale}, {3, (*World).DeletePod}, {3, (*World).Redeploy}, {3, (*World).Crash}, {2, (*World).Reboot},
	{2, (*World).Replace}, {3, (*World).Partition}, {2, (*World).Pause}, {1, (*World).Drain}, {1, (*World).removeNode}, {1, (*World).KillKubelet},
}

// Time draws a time of the script, in milliseconds.
func (w *World) Time() time.Duration {
	return time.Duration(w.Int(int(w.Until/time.Millisecond))) * time.Millisecond
}

// At adds an entry to the timeline, unless the script has ended by then.
func (w *World) At(t time.Duration, e scenarios.Event) {
	if t > w.Until {
		return
	}
	e.At.Duration = t
	w.Doc.Spec.Timeline = append(w.Doc.Spec.Timeline, e)
}

// Applied returns a kubectl apply.
func Applied(manifest object) scenarios.Event {
	b, err := json.Marshal(manifest)
	if err != nil {
		panic(err) // strings, numbers and lists always marshal
	}
	return scenarios.Event{Action: &action.Apply{Object: b}}
}

// scaled returns a kubectl scale.
func scaled(l load, replicas int) scenarios.Event {
	return scenarios.Event{Action: &action.Scale{Kind: l.kind, Namespace: l.namespace, Name: l.name, Replicas: replicas}}
}

// Scale changes a workload's replicas, and soon changes them back in half of the cases.
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

// DeletePod deletes a pod with a predictable name: a bare pod, or a StatefulSet's.
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

// Redeploy deletes a workload and creates it again with the same name.
func (w *World) Redeploy(at time.Duration) {
	l := Pick(w.Choices, w.loads...)
	resource := map[string]string{"StatefulSet": "statefulsets", "Deployment": "deployments", "DaemonSet": "daemonsets", "Job": "jobs", "Pod": "pods"}[l.kind]
	w.At(at, deleted(resource, l, l.name, false))
	w.At(at+w.Duration(time.Millisecond, 4*time.Second), Applied(l.manifest))
}

func deleted(resource string, l load, name string, force bool) scenarios.Event {
	return scenarios.Event{Action: &action.Delete{Resource: resource, Namespace: l.namespace, Name: name, Force: force}}
}

// Crash cuts a node's power, permanently or for some time.
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

// Replace replaces a machine, under the same name or a new one, at most once.
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

// Partition disconnects a node, mostly for some time.
func (w *World) Partition(at time.Duration) {
	p := &action.Partition{Node: w.Node()}
	if w.Chance(3, 4) {
		p.For = Millis(w.Duration(200*time.Millisecond, 20*time.Second))
	}
	w.At(at, scenarios.Event{Action: p})
}

// Pause stops every process of a node. Afterwards they continue with their outdated state.
func (w *World) Pause(at time.Duration) {
	w.At(at, scenarios.Event{Action: &action.Pause{Actor: w.Node(), For: Millis(w.Duration(200*time.Millisecond, 20*time.Second))}})
}

// Drain drains a node and uncordons it later.
func (w *World) Drain(at time.Duration) {
	n := w.Node()
	w.At(at, scenarios.Event{Action: &action.Drain{Node: n, Force: w.Chance(1, 2)}})
	w.At(at+w.Duration(100*time.Millisecond, 10*time.Second), scenarios.Event{Action: &action.Cordon{Node: n, Undo: true}})
}

// removeNode deletes a Node object while its machine continues to run.
func (w *World) removeNode(at time.Duration) {
	n := w.Node()
	if w.Left[n] {
		return
	}
	w.Leave(n)
	w.At(at, scenarios.Event{Action: &action.Delete{Resource: "nodes", Name: n}})
}

// KillKubelet kills a kubelet; the service manager restarts it.
func (w *World) KillKubelet(at time.Duration) {
	w.At(at, scenarios.Event{Action: &action.Kill{Actor: "kubelet/" + w.Node()}})
}

func (w *World) Leave(node string) {
	if w.Left == nil {
		w.Left = map[string]bool{}
	}
	w.Left[node] = true
}
