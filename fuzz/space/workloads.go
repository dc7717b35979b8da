package space

import (
	"fmt"
	"time"
)

// object is a manifest or a part of one. Its keys are printed in alphabetical order, which is the usual one
// for a manifest.
type object = map[string]any

// load is a workload of the world, including bare pods: the subject of churn and operators.
type load struct {
	kind, namespace, name string
	replicas              int
	late                  bool // it is created by the timeline
	manifest              object
}

// ref returns the name in the form of spec.churn.
func (l load) ref() string { return l.kind + "/" + l.namespace + "/" + l.name }

// scales reports whether kubectl scale supports its kind.
func (l load) scales() bool { return l.kind == "StatefulSet" || l.kind == "Deployment" }

// kinds are the kinds of workloads, by probability. Most failures need stable pod names, so
// StatefulSets and bare pods are frequent.
var kinds = []string{"StatefulSet", "StatefulSet", "StatefulSet", "Deployment", "Deployment", "Pod", "Pod", "Job", "DaemonSet"}

// Workloads draws workloads until they have the given number of pods. Each gets the annotations and
// the part of the pod's spec that template draws for it; both may be nil.
//
// Some exist from the start, some are created within the first four seconds, and some are then scaled up
// from zero.
func (w *World) Workloads(pods int, template func() (annotations map[string]string, spec object)) {
	for left := pods; left > 0; {
		l := load{kind: Pick(w.Choices, kinds...), namespace: "default", name: fmt.Sprintf("%s-%d", Pick(w.Choices, "web", "db", "job"), len(w.loads)+1)}
		annotations, spec := template()
		left -= w.workload(&l, left, annotations, spec)
		w.loads = append(w.loads, l)
	}
}

// workload draws one workload of at most max pods, adds it to the world and returns its number of pods.
func (w *World) workload(l *load, max int, annotations map[string]string, spec object) int {
	l.replicas = w.Between(1, max)
	meta := object{"name": l.name, "namespace": l.namespace}
	pod := w.pod(l, annotations, spec)
	l.manifest = object{"apiVersion": "apps/v1", "kind": l.kind, "metadata": meta}
	body := object{"template": pod, "selector": object{"matchLabels": object{"app": l.name}}}
	later := w.Chance(1, 3) || w.First > 0
	var scaled int
	switch l.kind {
	case "StatefulSet":
		body["podManagementPolicy"] = Pick(w.Choices, "OrderedReady", "Parallel")
		body["serviceName"] = l.name
		scaled = w.grow(l, body, later)
	case "Deployment":
		scaled = w.grow(l, body, later)
	case "DaemonSet":
		l.replicas = len(w.Nodes)
	case "Job":
		l.manifest["apiVersion"] = "batch/v1"
		delete(body, "selector")
		body["completions"], body["parallelism"] = l.replicas+w.Int(3), l.replicas
	case "Pod":
		l.replicas = 1
		l.manifest["apiVersion"] = "v1"
		meta["labels"], meta["annotations"] = object{"app": l.name}, pod["metadata"].(object)["annotations"]
		if meta["annotations"] == nil {
			delete(meta, "annotations")
		}
		body = pod["spec"].(object)
	}
	l.manifest["spec"] = body
	if later && scaled == 0 {
		l.late = true
		w.At(w.soon(), Applied(l.manifest))
	} else {
		w.Add(l.manifest)
	}
	w.pods += l.replicas
	return l.replicas
}

// grow sets the replicas: immediately, or zero and a scale within the first seconds. It returns the
// number that is left for the scale.
func (w *World) grow(l *load, body object, later bool) int {
	if body["replicas"] = l.replicas; !later || w.Chance(1, 2) {
		return 0
	}
	body["replicas"] = 0
	w.At(w.soon(), scaled(*l, l.replicas))
	return l.replicas
}

// pod draws the template. The API server requires the containers.
func (w *World) pod(l *load, annotations map[string]string, spec object) object {
	s := object{"containers": []object{{"name": "main", "image": "registry.example/" + l.name + ":1"}}}
	for k, v := range spec {
		s[k] = v
	}
	if w.Chance(1, 2) {
		s["terminationGracePeriodSeconds"] = w.Between(0, 10)
	}
	if w.Chance(1, 8) { // like daemons: no eviction from a silent node
		s["tolerations"] = []object{{"operator": "Exists"}}
	}
	notes := object{}
	for k, v := range annotations {
		notes[k] = v
	}
	if l.kind == "Job" || l.kind == "Pod" && w.Chance(1, 6) { // a pod that ends; other controllers would restart it
		notes["ipamsim.dev/run-for"] = w.Duration(50*time.Millisecond, 4*time.Second).String()
		s["restartPolicy"] = "Never"
	}
	meta := object{"labels": object{"app": l.name}}
	if len(notes) > 0 {
		meta["annotations"] = notes
	}
	return object{"metadata": meta, "spec": s}
}

// soon draws a time within four seconds after pods may exist, in the first half of the script.
func (w *World) soon() time.Duration {
	return min(w.First+time.Duration(w.Int(4001))*time.Millisecond, w.Until/2)
}
