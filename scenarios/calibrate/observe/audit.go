package observe

import (
	"encoding/json"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"ipamsim/scenarios/dump"
)

// auditTrail is what an audit log as a whole shows.
type auditTrail struct {
	pods, nodes      bool // it has calls on them
	changes, content int  // calls that may have cordoned a node, and those whose content is there
}

// auditEvent reads one line of an audit log. Rejected requests, and stages before the response, are
// skipped.
//
// A pod is created with its name, or without (generateName); then a log of level Metadata shows the
// name only in its binding by the scheduler, moments later. A pod is deleted twice: by a user or
// controller, and then by the kubelet, once its containers have ended; the last one counts.
//
// Source: k8s.io/apiserver/pkg/audit, LogRequestObject (v0.37.2).
func (f *file) auditEvent(from dump.Origin, e *auditv1.Event) error {
	if e.Stage != auditv1.StageResponseComplete {
		return nil
	}
	at := e.RequestReceivedTimestamp.UTC()
	if e.RequestReceivedTimestamp.IsZero() {
		return fail(from, "audit event", "requestReceivedTimestamp", "missing")
	}
	if err := credible(from, "audit event", "requestReceivedTimestamp", at); err != nil {
		return err
	}
	f.log = f.log.join(Window{at, at})
	o := e.ObjectRef
	if o == nil || o.APIGroup != "" || e.ResponseStatus != nil && e.ResponseStatus.Code >= 300 {
		return nil
	}
	switch o.Resource {
	case "pods":
		f.audit.pods = true
		return f.auditPod(from, at, e)
	case "nodes":
		f.audit.nodes = true
		return f.auditNode(from, at, e)
	}
	return nil
}

func (f *file) auditPod(from dump.Origin, at time.Time, e *auditv1.Event) error {
	o, s := e.ObjectRef, statement{at: at, from: from}
	s.uid, s.namespace, s.name = string(o.UID), o.Namespace, o.Name
	var p corev1.Pod
	if raw := object(e.ResponseObject); raw != nil && json.Unmarshal(raw, &p) == nil && p.Kind == "Pod" {
		s.uid, s.name, s.host, s.owner = string(p.UID), p.Name, p.Spec.HostNetwork, ownerOf(p.OwnerReferences)
		s.born, s.node = p.CreationTimestamp.UTC(), f.c.word(p.Spec.NodeName)
		if p.CreationTimestamp.IsZero() {
			s.born = time.Time{}
		}
	} else if raw := object(e.RequestObject); raw != nil && o.Subresource == "" && e.Verb == "create" && json.Unmarshal(raw, &p) == nil {
		s.host, s.owner = p.Spec.HostNetwork, ownerOf(p.OwnerReferences)
	}
	switch {
	case e.Verb == "deletecollection":
		f.c.counts[NoteManyDeleted]++
		return nil
	case e.Verb == "create" && (o.Subresource == "" || o.Subresource == "binding"):
		if s.name == "" {
			f.c.counts[NoteUnnamed]++
			return nil
		}
		var b corev1.Binding
		if raw := object(e.RequestObject); raw != nil && o.Subresource == "binding" && json.Unmarshal(raw, &b) == nil {
			s.node = f.c.word(b.Target.Name)
		}
	case e.Verb == "delete" && o.Subresource == "":
		s.ends = true
	case (e.Verb == "patch" || e.Verb == "update") && o.Subresource == "status":
		if !ends(e) {
			return nil
		}
		s.ends, s.over = true, true
	default:
		return nil
	}
	s.uid, s.namespace, s.name = strings.Clone(s.uid), strings.Clone(s.namespace), strings.Clone(s.name)
	s.from.File = f.name
	return f.c.says(s)
}

// ends reports whether a status says that a pod's containers have ended.
func ends(e *auditv1.Event) bool {
	var p struct {
		Status struct{ Phase corev1.PodPhase }
	}
	raw := object(e.RequestObject)
	return raw != nil && json.Unmarshal(raw, &p) == nil && (p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed)
}

func object(u *runtime.Unknown) []byte {
	if u == nil || len(u.Raw) == 0 {
		return nil
	}
	return u.Raw
}

func (f *file) auditNode(from dump.Origin, at time.Time, e *auditv1.Event) error {
	o := e.ObjectRef
	name, nodeless := o.Name, o.Subresource != ""
	if e.Verb == "create" && name == "" {
		var m metav1.PartialObjectMetadata
		for _, u := range []*runtime.Unknown{e.ResponseObject, e.RequestObject} {
			if raw := object(u); name == "" && raw != nil && json.Unmarshal(raw, &m) == nil {
				name = m.Name
			}
		}
		if name == "" {
			name = strings.TrimPrefix(e.User.Username, "system:node:") // a kubelet registers itself
		}
	}
	if nodeless || name == "" {
		return nil
	}
	n, err := f.c.node(from, name)
	if err != nil {
		return err
	}
	switch e.Verb {
	case "create":
		if n.born.IsZero() || at.Before(n.born) {
			n.born = at
		}
		seen(&n.first, &n.last, at)
	case "delete":
		n.died = later(n.died, at)
	case "patch", "update":
		seen(&n.first, &n.last, at)
		f.audit.changes++
		if raw := object(e.RequestObject); raw != nil {
			f.audit.content++
			f.cordons(n, at, raw, e.Verb == "update")
		}
	}
	return nil
}

// cordons takes spec.unschedulable out of a patch, which says nothing if it has none, or
// out of a whole Node, which is then open.
func (f *file) cordons(n *nodeRecord, at time.Time, raw []byte, whole bool) {
	var x struct {
		Spec *struct {
			Unschedulable json.RawMessage `json:"unschedulable"`
		} `json:"spec"`
	}
	if json.Unmarshal(raw, &x) != nil {
		return // a JSON patch, a list: kubectl writes none
	}
	if x.Spec == nil || x.Spec.Unschedulable == nil {
		if whole {
			n.cordons = append(n.cordons, change{at, false, false})
		}
		return
	}
	n.cordons = append(n.cordons, change{at, string(x.Spec.Unschedulable) == "true", false})
}

// logged says what times a log covers, and of what.
func (f *file) logged() error {
	if f.log == (Window{}) {
		return nil
	}
	a := &f.audit
	switch {
	case f.event:
		f.c.covers(f.log, PodStarts, Nodes, Cordons, Ready)
		f.c.note(NoteEventsNoEnds, f.name)
		return nil
	case a.pods:
		f.c.logs = append(f.c.logs, f.log)
		f.c.covers(f.log, PodStarts, PodEnds)
	}
	if a.pods || a.nodes {
		f.c.covers(f.log, Nodes)
	}
	if a.content > 0 {
		f.c.covers(f.log, Cordons)
	} else {
		f.c.note(NoteNoCordons, f.name)
	}
	return nil
}
