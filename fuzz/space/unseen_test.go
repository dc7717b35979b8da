package space_test

import (
	"bytes"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/sim/cluster"
)

// unseen returns why a dump does not show a sandbox, or "".
func (x *excuses) unseen(s *model.Sandbox) string {
	p := x.pods[s.Pod]
	n, there := x.is.Truth.Nodes[s.Node]
	switch {
	case s.Pod.Namespace == "":
		return device
	case !there:
		return noNode
	case !n.Healthy():
		return outOfReach
	case p == nil || string(p.UID) != s.UID:
		return noObject
	case !reported(p, s):
		return noStatus
	case s.Stopped && p.DeletionTimestamp != nil:
		return stopped // with several networks, the DEL of one has ended
	}
	return ""
}

// reported reports whether the pod runs and its status has every address of its sandbox.
func reported(p *corev1.Pod, s *model.Sandbox) bool {
	return hasAddresses(p, s) && p.Status.Phase == corev1.PodRunning
}

// hasAddresses reports whether the status, or Multus' part of it, has every address of a sandbox.
func hasAddresses(p *corev1.Pod, s *model.Sandbox) bool {
	text := p.Annotations["k8s.v1.cni.cncf.io/network-status"] + p.Status.PodIP
	for _, ip := range p.Status.PodIPs {
		text += " " + ip.IP
	}
	for _, a := range s.Attachments {
		for _, addr := range a.Addrs {
			if !strings.Contains(text, addr.String()) {
				return false
			}
		}
	}
	return len(s.Attachments) > 0
}

// imagined returns why a dump shows a sandbox that does not exist, or "". In any case the dump must
// contain every address of it.
func (x *excuses) imagined(s *model.Sandbox) string {
	p, o, n := x.pods[s.Pod], x.nodes[s.Node], x.was.Truth.Nodes[s.Node]
	switch {
	case s.Pod.Namespace == "":
		return x.announced(s)
	case p == nil || p.Spec.NodeName != s.Node || !hasAddresses(p, s) && !x.recorded(s):
		return ""
	case o == nil:
		return podsLeft
	case !n.Healthy() && !unheard(o):
		return unnoticed
	case !n.Up:
		return off
	case p.DeletionTimestamp != nil:
		return stopped
	case !hasAddresses(p, s):
		return assumed
	case x.runs(s.Pod):
		return renewed
	}
	return stale
}

// announced returns the excuse for a tunnel address in a Node object, of Kubernetes or of Calico.
func (x *excuses) announced(s *model.Sandbox) string {
	for _, a := range s.Attachments {
		for _, addr := range a.Addrs {
			if !slices.ContainsFunc(x.was.stored, func(o cluster.Object) bool {
				return o.Kind == "Node" && o.Name == s.Node && bytes.Contains(o.Body, []byte(`"`+addr.String()+`"`))
			}) {
				return ""
			}
		}
	}
	return device
}

// recorded reports whether the record has every address of a sandbox, for its pod.
func (x *excuses) recorded(s *model.Sandbox) bool {
	for _, a := range s.Attachments {
		for _, addr := range a.Addrs {
			if !slices.ContainsFunc(x.was.Record.Claims, func(c model.Claim) bool { return c.Pod == s.Pod && c.Addr == addr }) {
				return false
			}
		}
	}
	return len(s.Attachments) > 0
}

// runs reports whether a pod has a sandbox.
func (x *excuses) runs(pod model.PodRef) bool {
	return slices.ContainsFunc(x.was.Snapshot.Truth.Sandboxes, func(s model.Sandbox) bool { return s.Pod == pod })
}
