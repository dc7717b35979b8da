package dump

import (
	"cmp"
	"encoding/json"

	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/manifest"
	"ipamsim/scenarios/dump/workload"
)

// manifests writes every object of the draft, in an order that people read: what
// is configured, the machines, the record, the pods.
func (d *Draft) manifests(w *manifest.Writer) {
	for _, r := range d.present {
		if r.record.Settings != nil {
			r.record.Settings(w)
		}
	}
	for _, key := range kept.Keys(d.spaces) {
		n := d.spaces[key]
		if d.Selective || len(n.Annotations) > 0 {
			w.Manifest("v1", "Namespace", manifest.With(manifest.Named(key), "labels", n.Labels, "annotations", n.Annotations))
		}
	}
	for _, name := range kept.Keys(d.Nodes) {
		d.writeNode(w, name)
	}
	for _, r := range d.present {
		r.record.Write(w)
	}
	for _, c := range d.owning {
		c.Write(w, func(k string) bool { return d.ofPods(k) && !d.written(k) })
	}
	for i := range d.Running {
		d.write(w, &d.Running[i], d.Running[i].Phase)
	}
	for i := range d.waiting {
		d.write(w, &d.waiting[i], cmp.Or(d.waiting[i].Phase, "Pending"))
	}
	for i := range d.finished {
		d.write(w, &d.finished[i], d.finished[i].Phase)
	}
}

func (d *Draft) writeNode(w *manifest.Writer, name string) {
	n := d.Nodes[name]
	kept := map[string]string{}
	for k, v := range n.Annotations {
		if d.keptOfNode(k) {
			kept[k] = v
		}
	}
	ready := "True"
	if n.Unheard {
		ready = "Unknown"
	}
	fields := []any{"status", manifest.Object{"conditions": []manifest.Object{{"type": "Ready", "status": ready}}}}
	spec := manifest.Object{}
	if n.Cordoned {
		spec["unschedulable"] = true
	}
	if len(n.Taints) > 0 {
		spec["taints"] = n.Taints
	}
	for _, r := range d.present {
		if r.record.NodeSpec != nil {
			r.record.NodeSpec(name, spec)
		}
	}
	if len(spec) > 0 {
		fields = append(fields, "spec", spec)
	}
	w.Manifest("v1", "Node", manifest.With(manifest.Named(name), "labels", n.Labels, "annotations", kept), fields...)
}

// write writes a pod as the API server would show it to the scenario: where it
// runs and with which addresses.
func (d *Draft) write(w *manifest.Writer, r *Running, phase string) {
	notes := map[string]string{}
	if r.ID != "" {
		notes[kept.ContainerAnnotation] = r.ID
	}
	if len(r.Asked) > 0 {
		text, _ := json.Marshal(r.Asked)
		notes[kept.NetworksAnnotation] = string(text)
	}
	var all []kept.Status
	for _, a := range r.Attached {
		s := kept.Status{Name: a.Network, Interface: a.Interface}
		for _, x := range a.Addrs {
			s.IPs = append(s.IPs, x.String())
		}
		all = append(all, s)
	}
	if len(all) > 0 {
		text, _ := json.Marshal(all)
		notes[kept.StatusAnnotation] = string(text)
	}
	for k, v := range r.Annotations {
		if d.ofPods(k) && (v != "" || !d.identifies(k)) {
			notes[k] = v
		}
	}
	if r.made != nil && r.made.Kind == "Job" {
		notes[workload.RunFor] = "0s"
	}
	st := manifest.Object{"phase": phase}
	if r.Waits(d.Nodes[r.Node]) {
		st["conditions"] = []manifest.Object{{"type": "PodReadyToStartContainers", "status": "False"}}
	}
	if len(r.Addrs) > 0 {
		var ips []manifest.Object
		for _, a := range r.Addrs {
			ips = append(ips, manifest.Object{"ip": a.String()})
		}
		st["podIP"], st["podIPs"] = r.Addrs[0].String(), ips
	}
	meta := manifest.With(manifest.InNamespace(r.Ref()), "labels", r.Labels, "annotations", notes)
	switch {
	case r.made != nil:
		meta["ownerReferences"] = r.made.Reference()
	case r.Owner.Kind == "DaemonSet": // a drain leaves it where it is
		meta["ownerReferences"] = (&workload.Controller{Owner: r.Owner}).Reference()
	}
	spec := workload.Placed(r.Pod, manifest.Object{"containers": workload.Containers})
	if r.Node != "" {
		spec["nodeName"] = r.Node
	}
	w.Manifest("v1", "Pod", meta, "spec", spec, "status", st)
}
