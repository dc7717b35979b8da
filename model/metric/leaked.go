package metric

import (
	"net/netip"

	"ipamsim/model"
)

// leaks finds the claims whose owner is gone: no live sandbox of the pod has the
// address, no CNI call for it is under way, and no unreachable machine may still
// hold it. A node's own address is not leaked while the node is registered. A claim
// without an owner is not counted.
//
// It is the oracle leaked-claim without the grace period. It does not count claims of
// a pod with a call under way, because such a claim may come and go with every attempt.
func (s *sampler) leaks() {
	type holding struct {
		pod  model.PodRef
		addr netip.Addr
	}
	live, held, busy := map[string]bool{}, map[holding]bool{}, map[model.PodRef]bool{}
	for i := range s.Truth.Sandboxes {
		b := &s.Truth.Sandboxes[i]
		live[b.ID] = true
		for _, a := range b.Attachments {
			for _, addr := range a.Addrs {
				held[holding{b.Pod, addr}] = true
			}
		}
	}
	for _, b := range s.Truth.Busy {
		busy[b.Pod] = true
	}
	for i := range s.Record.Claims {
		c := &s.Record.Claims[i]
		switch _, calling := s.Truth.Busy[c.Container]; {
		case c.Tunnel:
			s.gone[i] = !s.Truth.Nodes[c.Node].Registered
		case c.Container == "" && c.Pod == model.PodRef{}:
		case live[c.Container] || held[holding{c.Pod, c.Addr}] || calling || busy[c.Pod]:
		default:
			pod, exists := s.Truth.Pods[c.Pod]
			node, known := s.Truth.Nodes[pod.Node]
			s.gone[i] = !exists || !known || node.Healthy()
		}
	}
}

// candidate reports whether the garbage collector would consider a claim invalid. The collector
// asks the API server, not the node: the pod is gone, is on another node now, or has other
// addresses; or the node of a tunnel is gone. If the collector cannot know, the claim is valid.
//
// Source: kube-controllers/pkg/controllers/node/ipam.go, allocationIsValid (v3.31).
func (s *sampler) candidate(c *model.Claim, has map[model.PodRef][]netip.Addr) bool {
	if c.Tunnel {
		return !s.Truth.Nodes[c.Node].Registered
	}
	if c.Pod.Namespace == "" || c.Pod.Name == "" {
		return false
	}
	pod, ok := s.Truth.Pods[c.Pod]
	if !ok {
		return true
	}
	if pod.Node != "" && s.Truth.Nodes[c.Node].Registered && pod.Node != c.Node {
		return true
	}
	if pod.Phase != "Running" || len(has[c.Pod]) == 0 {
		return false
	}
	for _, a := range has[c.Pod] {
		if a == c.Addr {
			return false
		}
	}
	return true
}

// reported are the addresses that kubelets have reported of their pods.
func (s *sampler) reported(network string) map[model.PodRef][]netip.Addr {
	out := map[model.PodRef][]netip.Addr{}
	for i := range s.Truth.Sandboxes {
		b := &s.Truth.Sandboxes[i]
		if s.Truth.Pods[b.Pod].UID != b.UID {
			continue
		}
		for _, a := range b.Attachments {
			if a.Network == network {
				out[b.Pod] = append(out[b.Pod], a.Addrs...)
			}
		}
	}
	return out
}
