package invariant

import (
	"net/netip"
	"time"

	"ipamsim/model"
)

// holding is one address that a sandbox really has from the manager.
type holding struct {
	sandbox    *model.Sandbox
	attachment *model.Attachment
	addr       netip.Addr
	network    *model.Network // nil if the scenario has no policy for it
	same       int            // the previous holding of the same address, or -1
}

// device reports whether a sandbox is a node's own tunnel device. Its address belongs to the node
// only while the Node exists: after that the other nodes remove it, and the manager may release it
// before the machine learns of the deletion.
func device(s *model.Sandbox) bool { return s.Pod == model.PodRef{Name: s.Node} }

// held are all holdings in order of the truth, and the last one of each address.
type held struct {
	list []holding
	last map[netip.Addr]int

	unbacked []*holding // what unbacked found, once it has
	matched  bool
}

// hold indexes the addresses of sandboxes. It is built on the truth and
// not on the record, because the record may be five times as long.
func hold(v View) held {
	if v.held != nil {
		return *v.held
	}
	h := held{
		list: make([]holding, 0, 2*len(v.Truth.Sandboxes)),
		last: make(map[netip.Addr]int, 2*len(v.Truth.Sandboxes)),
	}
	var network *model.Network
	for i := range v.Truth.Sandboxes {
		s := &v.Truth.Sandboxes[i]
		if device(s) && !v.Truth.Nodes[s.Node].Registered {
			continue
		}
		for j := range s.Attachments {
			a := &s.Attachments[j]
			if network == nil || network.Key != a.Network {
				network = model.NetworkByKey(v.Networks, a.Network)
			}
			for _, addr := range a.Addrs {
				same, ok := h.last[addr]
				if !ok {
					same = -1
				}
				h.last[addr] = len(h.list)
				h.list = append(h.list, holding{s, a, addr, network, same})
			}
		}
	}
	return h
}

// of is the last holding of an address, or -1.
func (h *held) of(a netip.Addr) int {
	if i, ok := h.last[a]; ok {
		return i
	}
	return -1
}

// holds reports whether a sandbox of the pod has the address.
func (h *held) holds(p model.PodRef, a netip.Addr) bool {
	for i := h.of(a); i >= 0; i = h.list[i].same {
		if h.list[i].sandbox.Pod == p {
			return true
		}
	}
	return false
}

// claimant is the id of the sandbox that a claim is for: a pod's container, or for
// a node's own tunnel address the claim's handle.
func claimant(c *model.Claim) string {
	if c.Tunnel {
		return c.Handle
	}
	return c.Container
}

// anonymous reports whether a claim has no owner, as one that was made manually.
func anonymous(c *model.Claim) bool {
	return claimant(c) == "" && c.Pod == model.PodRef{}
}

// silent reports whether nothing in a sandbox uses its addresses any more: the
// runtime ends the containers before it calls DEL.
func silent(v *View, s *model.Sandbox) bool { return s.Stopped || v.Truth.Busy[s.ID].Del }

// leaving reports whether a sandbox's DEL is under way. It releases the address before or after it
// removes the interface; without this exception every correct manager would violate the invariant
// in these milliseconds. A DEL that has failed is not under way, nor is one that hangs on a node
// that is partitioned or paused: the interface answers until a DEL succeeds.
func leaving(v *View, s *model.Sandbox) bool {
	return v.Truth.Busy[s.ID].Del && v.Truth.Nodes[s.Node].Healthy()
}

// Overlap is for how long two sandboxes may have one address of layer 2 while the DEL of
// one is under way. The CNI project's bridge, macvlan and ipvlan have IPAM release the
// address before they take the interface away (cmdDel in plugins/main/*), so that a few
// requests lie between in every DEL, which take milliseconds. One that takes longer leaves
// two interfaces that answer ARP requests for the address: a neighbour that asks then keeps
// the wrong one for half a minute.
//
// Source: Linux, net/core/neighbour.c, neigh_rand_reach_time.
const Overlap = 5 * time.Second

// answers reports whether a sandbox answers on its address while another sandbox has it, too.
func answers(v *View, h, beside *holding) bool {
	if !routed(v, h) {
		return false
	}
	layer3 := h.network != nil && h.network.Blocks != nil
	began := max(h.attachment.Since, beside.attachment.Since, v.Truth.Busy[h.sandbox.ID].Since)
	return !leaving(v, h.sandbox) || !layer3 && v.Truth.At-began > Overlap
}

// routed reports whether packets to an address reach its sandbox. On layer 3 they do while its node
// has a route to it. The node removes the route when it learns that the pod has ended: a
// partitioned or paused node keeps it.
//
// Source: libcalico-go/lib/backend/k8s/conversion, IsFinished and podToDefaultWorkloadEndpoint;
// felix/calc, the routes of local workload endpoints (v3.31).
func routed(v *View, h *holding) bool {
	n := h.network
	if n == nil || n.Blocks == nil || !n.Blocks.PodRoutes || device(h.sandbox) || !v.Truth.Nodes[h.sandbox.Node].Healthy() {
		return true
	}
	p, stored := v.Truth.Pods[h.sandbox.Pod]
	return stored && (p.UID == "" || h.sandbox.UID == "" || p.UID == h.sandbox.UID) && p.Phase != "Succeeded" && p.Phase != "Failed"
}

// busyPods is the set of pods with a CNI call under way that counts.
func busyPods(v *View, counts func(model.Busy) bool) map[model.PodRef]bool {
	m := make(map[model.PodRef]bool, len(v.Truth.Busy))
	for _, b := range v.Truth.Busy {
		if counts(b) {
			m[b.Pod] = true
		}
	}
	return m
}

func anyCall(model.Busy) bool    { return true }
func isAdd(b model.Busy) bool    { return !b.Del }
func isUnseen(b model.Busy) bool { return b.Unseen }

// ofInterface reports whether a call or an entry of the record belongs to an interface. An
// empty name matches every interface.
func ofInterface(is, want string) bool { return is == "" || want == "" || is == want }

// calling reports whether the call that made or releases a claim is under way: it may be about to
// undo the claim. A call of another container of the pod, or of another interface, does not count:
// a pod whose ADDs fail repeatedly has one under way nearly always.
func calling(v *View, c *model.Claim) bool {
	b, ok := v.Truth.Busy[c.Container]
	return ok && ofInterface(b.Interface, c.Interface)
}

// pools finds pools by name. Claims are sorted by pool, so the last answer is
// nearly always the next one.
type pools struct {
	list []model.Pool
	at   int
}

func (p *pools) find(name string) *model.Pool {
	if p.at < len(p.list) && p.list[p.at].Name == name {
		return &p.list[p.at]
	}
	for i := range p.list {
		if p.list[i].Name == name {
			p.at = i
			return &p.list[i]
		}
	}
	return nil
}
