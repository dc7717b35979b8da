package dump

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Writer writes manifests: each field of the first level on a line of its own,
// what is in it as JSON, which is YAML as well. All of it is ASCII.
type Writer struct {
	bytes.Buffer
	Err error
	c   *Cluster
}

// Object is an object of Kubernetes', or a part of one.
type Object map[string]any

// Manifest writes a document: fields are names and values by turns.
func (w *Writer) Manifest(apiVersion, kind string, metadata Object, fields ...any) {
	fmt.Fprintf(w, "---\napiVersion: %s\nkind: %s\n", apiVersion, kind)
	w.field("metadata", metadata)
	for i := 0; i+1 < len(fields); i += 2 {
		w.field(fields[i].(string), fields[i+1])
	}
}

func (w *Writer) field(name string, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil && w.Err == nil {
		w.Err = err
	}
	w.WriteString(name)
	w.WriteString(": ")
	w.WriteString(ascii(strings.TrimSuffix(b.String(), "\n")))
	w.WriteByte('\n')
}

// ascii escapes what is none, as YAML's and, below U+10000, JSON's strings have it.
func ascii(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		plain = plain && s[i] < 0x7f
	}
	if plain {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x7f:
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		case utf8.ValidRune(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// Named is the metadata of an object without a namespace.
func Named(name string) Object { return Object{"name": name} }

// InNamespace is the metadata of an object whose key is namespace/name.
func InNamespace(key string) Object {
	ns, name, ok := strings.Cut(key, "/")
	if !ok {
		return Object{"name": key}
	}
	return Object{"name": name, "namespace": ns}
}

// manifests writes every object of the draft, in an order that people read: what
// is configured, the machines, the record, the pods.
func (d *Draft) manifests(w *Writer) {
	for _, r := range d.present {
		if r.record.Settings != nil {
			r.record.Settings(w)
		}
	}
	for _, key := range KeysOf(d.spaces) {
		n := d.spaces[key]
		if d.Selective || len(n.Annotations) > 0 {
			w.Manifest("v1", "Namespace", With(Named(key), "labels", n.Labels, "annotations", n.Annotations))
		}
	}
	for _, name := range KeysOf(d.Nodes) {
		d.writeNode(w, name)
	}
	for _, r := range d.present {
		r.record.Write(w)
	}
	for _, c := range d.owning {
		c.write(w)
	}
	for i := range d.Running {
		d.Running[i].write(w, d.Running[i].Phase)
	}
	for i := range d.waiting {
		d.waiting[i].write(w, cmp.Or(d.waiting[i].Phase, "Pending"))
	}
	for i := range d.finished {
		d.finished[i].write(w, d.finished[i].Phase)
	}
}

// With adds what is not empty.
func With(o Object, pairs ...any) Object {
	for i := 0; i+1 < len(pairs); i += 2 {
		if m, ok := pairs[i+1].(map[string]string); ok && len(m) > 0 {
			o[pairs[i].(string)] = m
		}
	}
	return o
}

func (d *Draft) writeNode(w *Writer, name string) {
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
	fields := []any{"status", Object{"conditions": []Object{{"type": "Ready", "status": ready}}}}
	spec := Object{}
	if n.Cordoned {
		spec["unschedulable"] = true
	}
	if len(n.Taints) > 0 {
		spec["taints"] = n.Taints
	}
	if len(spec) > 0 {
		fields = append(fields, "spec", spec)
	}
	w.Manifest("v1", "Node", With(Named(name), "labels", n.Labels, "annotations", kept), fields...)
}

// write writes a pod as the API server would show it to the scenario: where it
// runs and with which addresses.
func (r *Running) write(w *Writer, phase string) {
	notes := map[string]string{}
	if r.ID != "" {
		notes[ContainerAnnotation] = r.ID
	}
	if len(r.Asked) > 0 {
		text, _ := json.Marshal(r.Asked)
		notes[networksAnnotation] = string(text)
	}
	var all []status
	for _, a := range r.Attached {
		s := status{Name: a.Network, Interface: a.Interface}
		for _, x := range a.Addrs {
			s.IPs = append(s.IPs, x.String())
		}
		all = append(all, s)
	}
	if len(all) > 0 {
		text, _ := json.Marshal(all)
		notes[statusAnnotation] = string(text)
	}
	for k, v := range r.Annotations {
		if w.c.ofPods(k) && (v != "" || !w.c.identifies(k)) {
			notes[k] = v
		}
	}
	if r.made != nil && r.made.Kind == "Job" {
		notes[runFor] = "0s"
	}
	st := Object{"phase": phase}
	if len(r.Addrs) > 0 {
		var ips []Object
		for _, a := range r.Addrs {
			ips = append(ips, Object{"ip": a.String()})
		}
		st["podIP"], st["podIPs"] = r.Addrs[0].String(), ips
	}
	meta := With(InNamespace(r.Ref()), "labels", r.Labels, "annotations", notes)
	switch {
	case r.made != nil:
		meta["ownerReferences"] = r.made.reference()
	case r.Owner.Kind == "DaemonSet": // a drain leaves it where it is
		meta["ownerReferences"] = (&controller{Owner: r.Owner}).reference()
	}
	spec := r.placed(Object{"containers": mainContainer})
	if r.Node != "" {
		spec["nodeName"] = r.Node
	}
	w.Manifest("v1", "Pod", meta, "spec", spec, "status", st)
}
