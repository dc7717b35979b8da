package remedy

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
)

// Script collects the steps of a remedy as events of a timeline.
type Script struct {
	facts  *Facts
	now    time.Duration
	events []scenarios.Event
	gates  []gate
	up     []model.PodRef // pods that must run from here on
	fresh  int            // the number of other pods that must run, with names chosen by controllers

	edits  []edit            // of manifests, before the first step
	checks []model.ActionRef // commands whose exit code reports a result, not an error
}

// gate is a condition that an operator waits for before the next step.
type gate struct {
	at    time.Duration
	up    []model.PodRef // these pods run
	fresh int            // this many pods run that did not exist before
	empty netip.Prefix   // nothing is claimed in this block; the zero value: no condition
}

// await waits, and then checks that all restarted pods run.
func (s *Script) await(d time.Duration) {
	s.now += d
	s.gates = append(s.gates, gate{at: s.now, up: slices.Clone(s.up), fresh: s.fresh})
}

const (
	// pace is the time between two commands.
	pace = time.Second
	// stopTime is how long a pod takes to stop: Kubernetes' default grace period of 30 s and
	// a margin for its DEL.
	stopTime = 40 * time.Second
	// restartTime is stopTime and the time until the second attempt at a sandbox.
	restartTime = stopTime + 20*time.Second
	// retryTime is how long a kubelet waits before it retries a failed sandbox, 10 s with the
	// default timers, and a margin for further failed ADDs.
	retryTime = time.Minute
	// migrateTime is how long a virtual machine takes to move: the run copies no memory.
	migrateTime = 30 * time.Second
)

// Do adds an event, one pace after the last one.
func (s *Script) Do(e scenarios.Event) {
	s.now += pace
	s.at(s.now, e)
}

// edit changes the manifest of an object.
type edit struct {
	kind, namespace, name string
	addr                  netip.Addr
	body                  func(json.RawMessage) (json.RawMessage, error)
}

// Edit changes an object of which a run has what it begins with, as it has the networks that pods request: the run
// begins with the changed one, which only ADDs read. In the cluster the operator changes it before the next step.
// That a pod has an address which it excludes, addr, counts at the end only.
func (s *Script) Edit(kind, namespace, name string, addr netip.Addr, body func(json.RawMessage) (json.RawMessage, error)) {
	s.edits = append(s.edits, edit{kind, namespace, name, addr, body})
}

// passing reports whether a violation follows from an edit before the next step.
func (s *Script) passing(v model.Violation) bool {
	return slices.ContainsFunc(s.edits, func(e edit) bool {
		return v.Invariant == invariant.ExcludedAddress.Name && model.Named(v.Objects, model.RefAddress) == e.addr.String()
	})
}

// Wait lets time pass.
func (s *Script) Wait(d time.Duration) { s.now += d }

// Empty checks that nothing is claimed in a block at this time: an operator continues only
// then.
func (s *Script) Empty(block netip.Prefix) {
	s.gates = append(s.gates, gate{at: s.now, empty: block})
}

// DoCheck adds a command whose exit code reports a result, not an error.
func (s *Script) DoCheck(e scenarios.Event) {
	s.checks = append(s.checks, action.Ref(e.Action))
	s.Do(e)
}

func (s *Script) at(t time.Duration, e scenarios.Event) {
	e.At.Duration = t
	s.events = append(s.events, e)
}

func (s *Script) apply(t time.Duration, object any) {
	body, err := json.Marshal(object)
	if err != nil {
		return // these types can always be encoded
	}
	s.at(t, scenarios.Event{Action: &action.Apply{Object: body}})
}

// remove deletes pods. A controller in the scenario recreates them; without one, remove
// creates the replacements as the controller would: a StatefulSet and a DaemonSet wait until
// the old pod is gone, others do not.
func (s *Script) remove(pods []model.PodRef) {
	s.now += pace
	for _, ref := range pods {
		s.at(s.now, scenarios.Event{Action: &action.Delete{Resource: "pods", Namespace: ref.Namespace, Name: ref.Name}})
		p, kind := s.facts.pod(ref), s.facts.owner(ref).Kind
		switch {
		case p == nil || kind == "":
			continue // no controller recreates it
		case kind == "StatefulSet" && s.facts.acts(p):
			s.up = append(s.up, ref)
			continue
		case s.facts.acts(p):
			s.fresh++
			continue
		}
		next, at := s.successor(p), s.now+pace/10
		switch kind {
		case "StatefulSet":
			next.Name, at = p.Name, s.now+stopTime
		case "DaemonSet":
			next.Spec.NodeName, at = p.Spec.NodeName, s.now+stopTime
			next.Spec.Tolerations = append(next.Spec.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists})
		}
		s.apply(at, next)
		s.up = append(s.up, model.PodRef{Namespace: next.Namespace, Name: next.Name})
	}
	s.await(restartTime)
}

// migrate creates the pod that a virtual machine moves to, on another node, and deletes the
// old pod when the new one runs. KubeVirt keeps the two apart by an anti-affinity; here the
// old node is cordoned instead.
func (s *Script) migrate(m Migrate) {
	p := s.facts.pod(m.Pod)
	if p == nil {
		return
	}
	s.now += pace
	next := s.successor(p)
	if !s.facts.Cordoned(m.Node) {
		s.at(s.now, scenarios.Event{Action: &action.Cordon{Node: m.Node}})
		defer func() { s.at(s.now, scenarios.Event{Action: &action.Cordon{Node: m.Node, Undo: true}}) }()
	}
	s.apply(s.now+pace/10, next)
	s.up = append(s.up, model.PodRef{Namespace: next.Namespace, Name: next.Name})
	s.await(migrateTime)
	s.at(s.now, scenarios.Event{Action: &action.Delete{Resource: "pods", Namespace: m.Pod.Namespace, Name: m.Pod.Name}})
	s.await(restartTime)
}

// probeName is the name of the pod that starts at the end on a node that needs a block.
const probeName = "ipamsim-probe"

func (s *Script) probe(node string) {
	p := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: probeName, Namespace: "default"},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Image: "probe"}}},
	}
	s.now += pace
	s.apply(s.now, p)
	s.up = append(s.up, model.PodRef{Namespace: p.Namespace, Name: p.Name})
	s.now += migrateTime
}

// successor returns a copy of a pod without node and address.
func (s *Script) successor(p *corev1.Pod) *corev1.Pod {
	const suffix = "-again"
	name := p.Name[:min(len(p.Name), 253-len(suffix))] + suffix
	next := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: p.Namespace, Labels: p.Labels, OwnerReferences: p.OwnerReferences, Annotations: map[string]string{},
		},
		Spec: *p.Spec.DeepCopy(),
	}
	for k, v := range p.Annotations {
		if !s.facts.writes[k] && !strings.HasPrefix(k, "kubectl.kubernetes.io/") {
			next.Annotations[k] = v
		}
	}
	next.Spec.NodeName = ""
	return next
}
