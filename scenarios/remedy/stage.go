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
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
)

// Stage is a sequence of steps on its way into a timeline.
type Stage struct {
	cast   *Cast
	now    time.Duration
	events []scenarios.Event
	gates  []gate
	up     []model.PodRef // pods that must run from here on
	fresh  int            // how many more must, whose names their controllers choose
	tells  []string       // deeds that fail to say what they have found
}

// gate is what a person waits for before the next step.
type gate struct {
	at    time.Duration
	up    []model.PodRef // run
	fresh int            // so many pods run that were not there before
	empty netip.Prefix   // nothing is claimed in it; the zero value: any
}

// await waits, and looks whether all pods run then that were restarted.
func (s *Stage) await(d time.Duration) {
	s.now += d
	s.gates = append(s.gates, gate{at: s.now, up: slices.Clone(s.up), fresh: s.fresh})
}

const (
	// pace is how long a person takes for a line.
	pace = time.Second
	// stopTime is how long a pod takes to go: Kubernetes' default grace period, 30 s, and
	// something for its DEL.
	stopTime = 40 * time.Second
	// restartTime is stopTime, and as long again as a sandbox that was refused once needs
	// for its second try.
	restartTime = stopTime + 20*time.Second
	// retryTime is how long a kubelet may leave a pod alone whose sandbox was refused, 10 s
	// with the default timers, and something for some ADDs that are refused in the meantime.
	retryTime = time.Minute
	// migrateTime is what a virtual machine may take to move: the run copies no memory.
	migrateTime = 30 * time.Second
)

// Do adds an event, a line later than the last one.
func (s *Stage) Do(e scenarios.Event) {
	s.now += pace
	s.at(s.now, e)
}

// Wait lets time pass.
func (s *Stage) Wait(d time.Duration) { s.now += d }

// Empty looks whether nothing is claimed in a block now: a person goes on only then.
func (s *Stage) Empty(block netip.Prefix) {
	s.gates = append(s.gates, gate{at: s.now, empty: block})
}

// Tells says that a command fails to say what it has found; deed is as model.Event has it.
func (s *Stage) Tells(deed string) { s.tells = append(s.tells, deed) }

func (s *Stage) at(t time.Duration, e scenarios.Event) {
	e.At.Duration = t
	s.events = append(s.events, e)
}

func (s *Stage) apply(t time.Duration, object any) {
	body, err := json.Marshal(object)
	if err != nil {
		return // of types that always can be
	}
	s.at(t, scenarios.Event{Apply: &action.Apply{Object: body}})
}

// remove deletes pods. A controller that the scenario has makes them again; where it has
// none, their successors are made here as it would: a StatefulSet and a DaemonSet wait
// until the old pod is gone, others do not.
func (s *Stage) remove(pods []model.PodRef) {
	s.now += pace
	for _, ref := range pods {
		s.at(s.now, scenarios.Event{Delete: &action.Delete{Resource: "pods", Namespace: ref.Namespace, Name: ref.Name}})
		p, kind := s.cast.pod(ref), s.cast.owner(ref).Kind
		switch {
		case p == nil || kind == "":
			continue // nobody makes it again
		case kind == "StatefulSet" && s.cast.acts(p):
			s.up = append(s.up, ref)
			continue
		case s.cast.acts(p):
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

// migrate makes the pod that a virtual machine moves to, on another node, and deletes the
// one that it came from when the other runs. KubeVirt keeps them apart by an
// anti-affinity, for which a cordoned node stands here.
func (s *Stage) migrate(m Migrate) {
	p := s.cast.pod(m.Pod)
	if p == nil {
		return
	}
	s.now += pace
	next := s.successor(p)
	if !s.cast.Cordoned(m.Node) {
		s.at(s.now, scenarios.Event{Cordon: &action.Cordon{Node: m.Node}})
		defer func() { s.at(s.now, scenarios.Event{Cordon: &action.Cordon{Node: m.Node, Undo: true}}) }()
	}
	s.apply(s.now+pace/10, next)
	s.up = append(s.up, model.PodRef{Namespace: next.Namespace, Name: next.Name})
	s.await(migrateTime)
	s.at(s.now, scenarios.Event{Delete: &action.Delete{Resource: "pods", Namespace: m.Pod.Namespace, Name: m.Pod.Name}})
	s.await(restartTime)
}

// probeName is the pod that starts at the end on a node that needs a block.
const probeName = "ipamsim-probe"

func (s *Stage) probe(node string) {
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

// successor is a pod like another one that nobody has given a node or an address yet.
func (s *Stage) successor(p *corev1.Pod) *corev1.Pod {
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
		if !s.cast.writes[k] && !strings.HasPrefix(k, "kubectl.kubernetes.io/") {
			next.Annotations[k] = v
		}
	}
	next.Spec.NodeName = ""
	return next
}
