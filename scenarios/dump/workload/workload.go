// Package workload is what makes pods of a scenario again: Deployments, StatefulSets,
// DaemonSets and Jobs with the pods that a dump has of them, and how they are written.
package workload

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/manifest"
)

// Controller is a Deployment, StatefulSet, DaemonSet or Job of the scenario, which makes
// its pods again.
type Controller struct {
	kept.Owner
	Namespace string
	Pods      []*kept.Pod
	Asked     map[*kept.Pod][]kept.Selection // the networks of pods
	Replicas  int
	Parallel  bool // a StatefulSet's pods start in parallel
}

// Key is NAMESPACE/NAME.
func (c *Controller) Key() string { return c.Namespace + "/" + c.Name }

// Known reports whether a scenario can have controllers of a kind.
func Known(kind string) bool { return kinds[kind] != nil }

// Rests sorts the pods and reports whether the controller would create no further pod on these
// nodes. A terminating pod of a Deployment or a Job is removed.
func (c *Controller) Rests(nodes map[string]*kept.Node) bool {
	slices.SortFunc(c.Pods, func(a, b *kept.Pod) int { return strings.Compare(a.Name, b.Name) })
	return kinds[c.Kind](c, nodes)
}

// kinds make of each kind what a scenario can have; false: it cannot.
var kinds = map[string]func(*Controller, map[string]*kept.Node) bool{
	"Deployment": (*Controller).deployment, "StatefulSet": (*Controller).statefulSet, "DaemonSet": (*Controller).daemonSet, "Job": (*Controller).deployment,
}

// deployment has the existing pods as its desired number. A terminating pod has a replacement and
// is not counted, or it would count until its deletion begins.
func (c *Controller) deployment(map[string]*kept.Node) bool {
	c.Pods = slices.DeleteFunc(c.Pods, func(p *kept.Pod) bool { return p.Deleting })
	c.Replicas = len(c.Pods)
	return c.Replicas > 0
}

// statefulSet has pods of consecutive numbers from 0.
func (c *Controller) statefulSet(map[string]*kept.Node) bool {
	for _, p := range c.Pods {
		n, ok := Ordinal(p.Name, c.Name)
		if !ok {
			return false
		}
		c.Replicas = max(c.Replicas, n+1)
	}
	return c.Replicas == len(c.Pods)
}

// Ordinal is the number of a pod of a StatefulSet.
func Ordinal(pod, set string) (int, bool) {
	rest, ok := strings.CutPrefix(pod, set+"-")
	n, err := strconv.Atoi(rest)
	return n, ok && err == nil && n >= 0 && n < 1<<20
}

// daemonSet has a pod on every node that its selector selects.
func (c *Controller) daemonSet(nodes map[string]*kept.Node) bool {
	on := map[string]bool{}
	for _, p := range c.Pods {
		on[p.Node] = true
	}
	selector := c.Pods[0].Selector
	for _, name := range kept.Keys(nodes) {
		matches := true
		for k, v := range selector {
			matches = matches && nodes[name].Labels[k] == v
		}
		if matches != on[name] {
			return false
		}
	}
	return len(on) == len(c.Pods)
}

// setByControllers are labels that a controller puts on its pods.
var setByControllers = []string{
	kept.HashLabel, "controller-revision-hash", "pod-template-generation", "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index",
	"controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "batch.kubernetes.io/job-completion-index",
}

// ownLabel is what pods without a label are selected by.
const ownLabel = "ipamsim.dev/owner"

// Write writes a controller with its first pod as the template, of whose annotations those
// stay that are to be kept.
func (c *Controller) Write(w *manifest.Writer, keep func(annotation string) bool) {
	r := c.Pods[0]
	labels := maps.Clone(r.Labels)
	maps.DeleteFunc(labels, func(k, _ string) bool { return slices.Contains(setByControllers, k) })
	if len(labels) == 0 {
		labels = map[string]string{ownLabel: c.Name}
	}
	notes := map[string]string{}
	for k, v := range r.Annotations {
		if keep(k) {
			notes[k] = v
		}
	}
	if asked := c.Asked[r]; len(asked) > 0 {
		text, _ := json.Marshal(asked)
		notes[kept.NetworksAnnotation] = string(text)
	}
	if c.Kind == "Job" {
		notes[RunFor] = "0s" // forever: the dump does not show when it ends
	}
	spec := manifest.Object{"template": manifest.Object{"metadata": manifest.With(manifest.Object{}, "labels", labels, "annotations", notes), "spec": Placed(r, manifest.Object{"containers": Containers})}}
	version := "apps/v1"
	switch c.Kind {
	case "Job":
		version = "batch/v1"
		spec["parallelism"], spec["completions"] = c.Replicas, c.Replicas
		spec["template"].(manifest.Object)["spec"].(manifest.Object)["restartPolicy"] = "Never"
	case "StatefulSet":
		spec["serviceName"] = c.Name
		if c.Parallel {
			spec["podManagementPolicy"] = "Parallel"
		}
		fallthrough
	case "Deployment":
		spec["replicas"] = c.Replicas
		fallthrough
	default:
		spec["selector"] = manifest.Object{"matchLabels": labels}
	}
	w.Manifest(version, c.Kind, manifest.InNamespace(c.Key()), "spec", spec)
}

// Reference is what the pods of a controller have in metadata. Which uid it will have
// the API server says; see kubeapi.Owners.
func (c *Controller) Reference() []manifest.Object {
	version := "apps/v1"
	if c.Kind == "Job" {
		version = "batch/v1"
	}
	return []manifest.Object{{"apiVersion": version, "kind": c.Kind, "name": c.Name, "uid": "imported", "controller": true}}
}

// RunFor is the annotation that says how long a pod works.
const RunFor = "ipamsim.dev/run-for"

// Containers are those of every pod: what runs in them is not known.
var Containers = []manifest.Object{{"name": "main", "image": "imported"}}

// Placed adds what says on which nodes a pod may run.
func Placed(p *kept.Pod, spec manifest.Object) manifest.Object {
	if len(p.Selector) > 0 {
		spec["nodeSelector"] = p.Selector
	}
	if len(p.Tolerations) > 0 {
		spec["tolerations"] = p.Tolerations
	}
	return spec
}
