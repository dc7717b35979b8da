package dump

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/manifest"
)

// controller is a Deployment, StatefulSet, DaemonSet or Job of the scenario, which makes
// its pods again.
type controller struct {
	kept.Owner
	namespace string
	pods      []*Running
	replicas  int
	parallel  bool
}

func (c *controller) key() string { return c.namespace + "/" + c.Name }

// owned finds the controllers of the pods, and lets those make pods again that would
// make no other pod at once: what is simulated is the cluster at rest. A ReplicaSet that
// no Deployment has becomes one.
func (d *Draft) owned() {
	by := map[string]*controller{}
	others := map[string]int{}
	for _, all := range [][]Running{d.Running, d.waiting} {
		for i := range all {
			p := &all[i]
			o := p.Owner
			if o.Kind == "ReplicaSet" {
				o.Kind = "Deployment"
			}
			if ownerKinds[o.Kind] == nil {
				switch {
				case o.Kind != "" && d.Options.Anonymise: // a kind may be a company's own
					others["another kind"]++
				case o.Kind != "":
					others[o.Kind]++
				}
				continue
			}
			key := o.Kind + " " + p.Namespace + "/" + o.Name
			if by[key] == nil {
				by[key] = &controller{Owner: o, namespace: p.Namespace}
			}
			by[key].pods = append(by[key].pods, p)
		}
	}
	alone := map[string]int{}
	for _, key := range kept.Keys(by) {
		c := by[key]
		slices.SortFunc(c.pods, func(a, b *Running) int { return strings.Compare(a.Name, b.Name) })
		if !ownerKinds[c.Kind](d, c) {
			if len(c.pods) > 0 {
				alone[c.Kind] += len(c.pods)
			}
			continue
		}
		for _, p := range c.pods {
			p.made = c
		}
		d.owning = append(d.owning, c)
	}
	for _, kind := range slices.Sorted(maps.Keys(others)) {
		d.Left("who makes %s again: %s", Plural(others[kind], "pod", "pods"), kind)
	}
	for _, kind := range slices.Sorted(maps.Keys(alone)) {
		d.Left("who makes %s again: a %s that the simulated one is not like", Plural(alone[kind], "pod", "pods"), kind)
	}
}

// ownerKinds make of each kind what a scenario can have; false: it cannot.
var ownerKinds = map[string]func(*Draft, *controller) bool{
	"Deployment": (*Draft).deployment, "StatefulSet": (*Draft).statefulSet, "DaemonSet": (*Draft).daemonSet, "Job": (*Draft).deployment,
}

// deployment wants as many pods as there are: one on its way out has its successor, and
// is nobody's here, or it would count until its deletion begins.
func (d *Draft) deployment(c *controller) bool {
	c.pods = slices.DeleteFunc(c.pods, func(p *Running) bool { return p.Deleting })
	c.replicas = len(c.pods)
	return c.replicas > 0
}

// statefulSet has pods of consecutive numbers from 0.
func (d *Draft) statefulSet(c *controller) bool {
	if w := d.Cluster.workloads["StatefulSet "+c.key()]; w != nil {
		c.parallel = w.Value.Parallel
	}
	for _, p := range c.pods {
		n, ok := ordinal(p.Name, c.Name)
		if !ok {
			return false
		}
		c.replicas = max(c.replicas, n+1)
	}
	return c.replicas == len(c.pods)
}

func ordinal(pod, set string) (int, bool) {
	rest, ok := strings.CutPrefix(pod, set+"-")
	n, err := strconv.Atoi(rest)
	return n, ok && err == nil && n >= 0 && n < 1<<20
}

// daemonSet has a pod on every node that its selector selects.
func (d *Draft) daemonSet(c *controller) bool {
	on := map[string]bool{}
	for _, p := range c.pods {
		on[p.Node] = true
	}
	selector := c.pods[0].Selector
	for _, name := range kept.Keys(d.Nodes) {
		matches := true
		for k, v := range selector {
			matches = matches && d.Nodes[name].Labels[k] == v
		}
		if matches != on[name] {
			return false
		}
	}
	return len(on) == len(c.pods)
}

// setByControllers are labels that a controller puts on its pods.
var setByControllers = []string{
	kept.HashLabel, "controller-revision-hash", "pod-template-generation", "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index",
	"controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "batch.kubernetes.io/job-completion-index",
}

// ownLabel is what pods without a label are selected by.
const ownLabel = "ipamsim.dev/owner"

// writeController writes a controller with its first pod as the template.
func (d *Draft) writeController(w *manifest.Writer, c *controller) {
	r := c.pods[0]
	labels := maps.Clone(r.Labels)
	maps.DeleteFunc(labels, func(k, _ string) bool { return slices.Contains(setByControllers, k) })
	if len(labels) == 0 {
		labels = map[string]string{ownLabel: c.Name}
	}
	notes := map[string]string{}
	for k, v := range r.Annotations {
		if d.ofPods(k) && !d.written(k) {
			notes[k] = v
		}
	}
	if len(r.Asked) > 0 {
		text, _ := json.Marshal(r.Asked)
		notes[kept.NetworksAnnotation] = string(text)
	}
	if c.Kind == "Job" {
		notes[runFor] = "0s" // for ever: nothing says when it ends
	}
	spec := manifest.Object{"template": manifest.Object{"metadata": manifest.With(manifest.Object{}, "labels", labels, "annotations", notes), "spec": placed(r.Pod, manifest.Object{"containers": mainContainer})}}
	version := "apps/v1"
	switch c.Kind {
	case "Job":
		version = "batch/v1"
		spec["parallelism"], spec["completions"] = c.replicas, c.replicas
		spec["template"].(manifest.Object)["spec"].(manifest.Object)["restartPolicy"] = "Never"
	case "StatefulSet":
		spec["serviceName"] = c.Name
		if c.parallel {
			spec["podManagementPolicy"] = "Parallel"
		}
		fallthrough
	case "Deployment":
		spec["replicas"] = c.replicas
		fallthrough
	default:
		spec["selector"] = manifest.Object{"matchLabels": labels}
	}
	w.Manifest(version, c.Kind, manifest.InNamespace(c.key()), "spec", spec)
}

// reference is what the pods of a controller have in metadata. Which uid it will have
// the API server says; see sim/cluster, resolve.
func (c *controller) reference() []manifest.Object {
	version := "apps/v1"
	if c.Kind == "Job" {
		version = "batch/v1"
	}
	return []manifest.Object{{"apiVersion": version, "kind": c.Kind, "name": c.Name, "uid": "imported", "controller": true}}
}

// runFor is the annotation that says how long a pod works.
const runFor = "ipamsim.dev/run-for"

var mainContainer = []manifest.Object{{"name": "main", "image": "imported"}}

// placed adds what says on which nodes a pod may run.
func placed(p *kept.Pod, spec manifest.Object) manifest.Object {
	if len(p.Selector) > 0 {
		spec["nodeSelector"] = p.Selector
	}
	if len(p.Tolerations) > 0 {
		spec["tolerations"] = p.Tolerations
	}
	return spec
}

// tellPlaces says what of the rules for places is not simulated.
func (d *Draft) tellPlaces() {
	affine := 0
	for _, p := range slices.Concat(d.Running, d.waiting) {
		if p.Affine && p.Owner.Kind != "DaemonSet" { // a DaemonSet's pods are bound to their nodes by it
			affine++
		}
	}
	if affine > 0 {
		d.Left("to which nodes %s bound by required affinities: made again they may start on any", Plural(affine, "pod is", "pods are"))
	}
	want := 0
	for _, c := range d.owning {
		if w := d.Cluster.workloads[c.Kind+" "+c.key()]; w != nil && c.Kind != "DaemonSet" && c.Kind != "Job" && w.Value.Replicas != c.replicas {
			want++
		}
	}
	if want > 0 {
		d.Unknown("why %s another number of pods than wanted: as many as there are is what they want here", Plural(want, "controller has", "controllers have"))
	}
}
