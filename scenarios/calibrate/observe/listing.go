package observe

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/strict"
)

// pod of a listing.
func (f *file) pod(from dump.Origin, p *corev1.Pod) error {
	object, born := "Pod "+p.Namespace+"/"+p.Name, p.CreationTimestamp.UTC()
	switch {
	case p.Name == "":
		return fail(from, "Pod", "metadata.name", "missing")
	case p.CreationTimestamp.IsZero():
		return fail(from, object, "metadata.creationTimestamp", "missing: want pods as kubectl get -o yaml prints them")
	}
	if err := credible(from, object, "metadata.creationTimestamp", born); err != nil {
		return err
	}
	f.names(born)
	s, err := f.c.pod(from, string(p.UID), p.Namespace, p.Name, born)
	if err != nil {
		return err
	}
	s.born, s.host, s.owner, s.node = born, p.Spec.HostNetwork, ownerOf(p.OwnerReferences), f.c.word(p.Spec.NodeName)
	if _, static := p.Annotations["kubernetes.io/config.mirror"]; static {
		s.host = true // whatever it says: the kubelet runs it before there is a network
	}
	ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	for _, c := range p.Status.ContainerStatuses {
		f.c.restarts += int(max(c.RestartCount, 0))
		if t := c.State.Terminated; ended && t != nil && !t.FinishedAt.IsZero() {
			if err := credible(from, object, "status.containerStatuses.finishedAt", t.FinishedAt.UTC()); err != nil {
				return err
			}
			s.finished = later(s.finished, t.FinishedAt.UTC())
			f.names(s.finished)
		}
	}
	for _, c := range p.Status.Conditions {
		f.conditioned(from, c.LastTransitionTime)
	}
	f.pods = append(f.pods, listedPod{s, ended})
	return nil
}

// conditioned is a time in a status: not before the listing was taken.
func (f *file) conditioned(from dump.Origin, t metav1.Time) {
	if at := t.UTC(); !t.IsZero() && credible(from, "", "", at) == nil {
		f.names(at)
	}
}

// ownerOf is the controller of an object.
func ownerOf(all []metav1.OwnerReference) Owner {
	for _, o := range all {
		if o.Controller != nil && *o.Controller {
			return Owner{o.Kind, o.Name, true}
		}
	}
	return Owner{Known: true}
}

// node of a listing.
func (f *file) node(from dump.Origin, n *corev1.Node) error {
	object, born := "Node "+n.Name, n.CreationTimestamp.UTC()
	switch {
	case n.Name == "":
		return fail(from, "Node", "metadata.name", "missing")
	case n.CreationTimestamp.IsZero():
		return fail(from, object, "metadata.creationTimestamp", "missing: want nodes as kubectl get -o yaml prints them")
	}
	if err := credible(from, object, "metadata.creationTimestamp", born); err != nil {
		return err
	}
	f.names(born)
	s, err := f.c.node(from, n.Name)
	if err != nil {
		return err
	}
	if s.born.IsZero() || born.Before(s.born) {
		s.born = born
	}
	l := listed{s, n.Spec.Unschedulable, true}
	for _, c := range n.Status.Conditions {
		f.conditioned(from, c.LastHeartbeatTime)
		f.conditioned(from, c.LastTransitionTime)
		if c.Type == corev1.NodeReady {
			l.ready = c.Status == corev1.ConditionTrue
		}
	}
	if pods, ok := n.Status.Allocatable[corev1.ResourcePods]; ok {
		if v := pods.Value(); v > 0 && v < 10_000 {
			f.c.maxPods[int(v)] = true
		}
	}
	f.nodes = append(f.nodes, l)
	return nil
}

// listing puts a listing at its time.
func (f *file) listing() error {
	if len(f.pods) == 0 && len(f.nodes) == 0 {
		return nil
	}
	at := f.taken
	if at.IsZero() {
		at = f.last
		f.c.note(NoteScanTime, f.name)
	}
	if at.Before(f.last.Add(-time.Minute)) { // clocks differ
		return &strict.Error{File: f.name, Problem: "was taken at " + at.UTC().Format(time.RFC3339) + " as given, but contains " + f.last.Format(time.RFC3339) + ", which is later"}
	}
	at = at.UTC()
	from := dump.Origin{File: f.name}
	if len(f.pods) > 0 {
		if err := f.c.scan(from, f.c.scans, at); err != nil {
			return err
		}
		f.c.covers(Window{at, at}, PodStarts, PodEnds)
	} else {
		f.c.note(NoteNoPods, f.name)
	}
	for _, p := range f.pods {
		switch {
		case !p.ended:
			seen(&p.first, &p.last, at)
			f.c.restartsOf += max(at.Sub(p.born), 0)
		case p.finished.IsZero() && (p.overBy.IsZero() || at.Before(p.overBy)):
			p.overBy = at
		}
	}
	if len(f.nodes) == 0 {
		return nil
	}
	f.c.covers(Window{at, at}, Nodes, Cordons, Ready)
	for _, n := range f.nodes {
		seen(&n.first, &n.last, at)
		n.cordons = append(n.cordons, change{at, n.cordoned, true})
		n.silences = append(n.silences, change{at, !n.ready, true})
	}
	return f.c.scan(from, f.c.nodeSeen, at)
}

func (c *Collector) note(k NoteKind, name string) { c.names[k] = append(c.names[k], name) }

// word returns the shared copy of a frequent text.
func (c *Collector) word(s string) string {
	if w, known := c.words[s]; known {
		return w
	}
	w := strings.Clone(s)
	if len(c.words) < nodesMax {
		c.words[w] = w
	}
	return w
}
