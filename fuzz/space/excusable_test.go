package space_test

import (
	"fmt"
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/model/route"
	"ipamsim/model/route/fib"
	"ipamsim/sim/cluster/checker"
)

// world returns two machines and a pod on one of them, whose address the other cannot reach, and,
// if running is true, the pod's sandbox.
func world(running bool, lost ...route.Loss) *checker.Snapshot {
	up := model.Node{Up: true, Registered: true}
	s := &checker.Snapshot{Losses: lost}
	s.Truth.Nodes = map[string]model.Node{"a": up, "b": up}
	s.Truth.Pods = map[model.PodRef]model.Pod{{Namespace: "default", Name: "p"}: {Node: "a"}}
	if running {
		s.Truth.Sandboxes = []model.Sandbox{{
			ID: "1", Pod: model.PodRef{Namespace: "default", Name: "p"}, Node: "a",
			Attachments: []model.Attachment{{Network: "n", Interface: "eth0", Addrs: []netip.Addr{netip.MustParseAddr("10.0.0.1")}}},
		}}
	}
	return s
}

// excused returns the differences of an import that have no excuse.
func excused(was, is *checker.Snapshot, p *corev1.Pod) (faults []string, x *excuses) {
	x = newExcuses(func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }, end{Snapshot: was}, is)
	if p != nil {
		x.pods[model.PodRef{Namespace: "default", Name: "p"}] = p
	}
	for name := range was.Truth.Nodes {
		x.nodes[name] = &corev1.Node{}
	}
	x.truth()
	return faults, x
}

// A sandbox that no dump shows excuses the routes to it, and no others.
func TestExcuseOfASandboxCoversItsAddresses(t *testing.T) {
	to := func(a string) route.Loss {
		return route.Loss{From: "b", To: netip.MustParseAddr(a), On: "a", At: "b", How: fib.Unreachable}
	}
	if faults, x := excused(world(true, to("10.0.0.1")), world(false), nil); len(faults) > 0 || x.count[noObject] != 1 || len(x.was.Losses) > 0 {
		t.Errorf("the way to the sandbox itself: %q, %v", faults, x.count)
	}
	if faults, _ := excused(world(true, to("10.0.0.1"), to("10.0.0.2")), world(false), nil); len(faults) != 1 {
		t.Errorf("another way that the import lacks: %q, want one fault", faults)
	}
	if faults, _ := excused(world(true), world(false, to("10.0.0.3")), nil); len(faults) != 1 {
		t.Errorf("another way that only the import has: %q, want one fault", faults)
	}
}

// An imported sandbox that does not exist has an excuse only if the dump contains its addresses.
func TestASandboxOutOfNothingHasNoExcuse(t *testing.T) {
	p := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "a"}, Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.9"}}
	if faults, _ := excused(world(false), world(true), p); len(faults) != 1 {
		t.Errorf("an address that neither status nor record has: %q, want one fault", faults)
	}
	p.Status.PodIP = "10.0.0.1"
	if faults, x := excused(world(false), world(true), p); len(faults) > 0 || x.count[stale] != 1 {
		t.Errorf("an address that the status has: %q, %v", faults, x.count)
	}
	p.Spec.NodeName = "b"
	if faults, _ := excused(world(false), world(true), p); len(faults) != 1 {
		t.Errorf("on another machine than the pod: %q, want one fault", faults)
	}
}
