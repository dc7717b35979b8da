package invariant

import (
	"slices"

	"ipamsim/model"
)

// Codes of DuplicateAddress: the holders of the address. If they are on two networks, the code has
// the suffix -across-networks.
const (
	twoSandboxes         = "two-sandboxes"
	twoSandboxesOfOnePod = "two-sandboxes-of-one-pod"
	stoppedSandbox       = "stopped-sandbox" // on two of its interfaces
	delUnderWay          = "del-under-way"   // of one of two, for longer than Overlap
	oneSandbox           = "one-sandbox"     // on two of its interfaces
	acrossNetworks       = "-across-networks"
	takenOutside         = "taken-outside"
	serviceAddress       = "service-address" // its cluster IP, external IP or load balancer's
	serviceRange         = "service-range"   // in which cluster IPs are given away
)

// OwnAddressOfNode is the code of DuplicateAddress for a pod with a node's own address.
const OwnAddressOfNode = "own-address-of-a-node"

// DuplicateAddress is an error that users notice: two sandboxes answer on one address. Two
// sandboxes of one pod name count as well, because a node that was partitioned keeps the old one
// running. So does a sandbox whose containers are gone and whose DEL has failed: its interface
// exists, and the kernel answers. One sandbox may not have an address on two interfaces on one
// layer-2 segment either, whether of one network or of two: by Whereabouts' README overlapping
// ranges "will not allow an IP address to be re-assigned across two different ranges". Static
// addresses are the user's responsibility.
//
// On layer 2 the kernel answers for an interface until a DEL has removed it. On layer 3 an address
// is where the node has a route to: see routed.
//
// A sandbox may not have an address of a node or of a Service either, or an address that the
// scenario declares as used outside. The manager does not know these addresses, so the operator
// must keep them out of its ranges, and the message names the range.
var DuplicateAddress = define(Invariant{
	Name:     "duplicate-address",
	Severity: model.Critical,
	Phase:    Always,
	Doc:      "No two live sandboxes, no two interfaces of one, and no sandbox and a node, a Service or something outside hold the same address on one wire.",
	Kinds:    duplicateKinds(),
	Cause: CauseRule{
		Start: FromWrite, Write: WriteRule{Freed: true},
		Identity: Identity{Group: AddressLost, CodeIfNew: true},
	},
	Follows: []string{"block-owner", "double-claim", "overlap-reservation", "overlapping-blocks", "slice-conflict", "unbacked-sandbox"},
	Effect:  "a connection to the address reaches only one of its holders",
}, func(v View) []finding {
	var out []finding
	h, machines := hold(v), migrating(&v)
	for i := range h.list {
		b := &h.list[i]
		pairs := 0
		for j := b.same; j >= 0 && pairs < pairsMax; j = h.list[j].same {
			a := &h.list[j]
			if another(a, b) && oneWire(a, b) && answers(&v, a, b) && answers(&v, b, a) && !bothOf(machines, a, b) {
				out = append(out, duplicate(&v, a, b))
				pairs++
			}
		}
	}
	return append(out, collisions(&v, &h)...)
})

// migrating are the claims of virtual machines that migrate: each belongs to two pods, and the
// routes lead to one of them.
func migrating(v *View) (out []model.Claim) {
	for i := range v.Record.Claims {
		if c := v.Record.Claims[i]; c.Alternate != (model.PodRef{}) {
			out = append(out, c)
		}
	}
	return out
}

// bothOf reports whether two holdings belong to the two pods of a claim.
func bothOf(claims []model.Claim, a, b *holding) bool {
	return slices.ContainsFunc(claims, func(c model.Claim) bool {
		return c.Addr == a.addr && (alternate(&c, a.sandbox) && c.Pod == b.sandbox.Pod || alternate(&c, b.sandbox) && c.Pod == a.sandbox.Pod)
	})
}

// pairsMax is with how many others each holder of an address is reported. In a dump in which
// one address stands for all, 20,000 pods would make 200 million pairs.
const pairsMax = 8

// another reports whether two holdings are different: of two sandboxes, or of two interfaces of
// one. A pod may request one network twice.
func another(a, b *holding) bool {
	return a.sandbox != b.sandbox || a.attachment.Interface != b.attachment.Interface || a.attachment.Network != b.attachment.Network
}

func oneWire(a, b *holding) bool {
	if a.network == nil || b.network == nil {
		return a.attachment.Network == b.attachment.Network
	}
	if a.network.Local && b.network.Local && a.sandbox.Node != b.sandbox.Node {
		return false
	}
	return model.SameDomain(a.network, b.network, a.addr)
}

// duplicateCode is the code for the two holders of an address.
func duplicateCode(v *View, a, b *holding) (code string) {
	switch {
	case a.sandbox == b.sandbox:
		code = oneSandbox
	case leaving(v, a.sandbox) || leaving(v, b.sandbox):
		code = delUnderWay
	case a.sandbox.Stopped || b.sandbox.Stopped:
		code = stoppedSandbox
	case a.sandbox.Pod == b.sandbox.Pod:
		code = twoSandboxesOfOnePod
	default:
		code = twoSandboxes
	}
	if a.attachment.Network != b.attachment.Network {
		code += acrossNetworks
	}
	return code
}

func duplicateKinds() (out []Kind) {
	const two = ": {first} on {first-node}[ since {first-since}], and {second} on {second-node}[ since {second-since}]"
	for _, k := range []Kind{
		{twoSandboxes, "is held by two live sandboxes" + two},
		{twoSandboxesOfOnePod, "is held by two live sandboxes" + two},
		{stoppedSandbox, "is held by two sandboxes, one stopped and waiting for a DEL that succeeds" + two},
		{delUnderWay, "is held by two sandboxes, and the DEL of one has been under way for long" + two},
		{oneSandbox, "is held twice by one live sandbox: {first} on {first-node}, {first-interface}[ since {first-since}] and {second-interface}[ since {second-since}]"},
	} {
		out = append(out, Kind{k.Code, "{address} in network {first-network} " + k.Text},
			Kind{k.Code + acrossNetworks, "{address} in networks {first-network} and {second-network} " + k.Text})
	}
	const held = "{address} in network {first-network} is held by a live sandbox, {first} on {first-node}[ since {first-since}], and is "
	return append(out, Kind{OwnAddressOfNode, held + "the own address of node {second}[: it lies in {pool}, which the manager gives away]"},
		Kind{serviceAddress, held + "an address of Service {second}[: it lies in {pool}, which the manager gives away]"},
		Kind{serviceRange, held + "in ServiceCIDR {second}, which gives it to a Service as well[: it lies in {pool}, which the manager gives away]"},
		Kind{takenOutside, held + "in use by {second}, which is no pod[: it lies in {pool}, which the manager gives away]"})
}

// duplicate names the two holdings, the older one first.
func duplicate(v *View, a, b *holding) finding {
	if b.attachment.Since < a.attachment.Since {
		a, b = b, a
	}
	return finding{
		code: duplicateCode(v, a, b),
		objects: []model.Ref{
			addressName(a), networkName(a.attachment.Network), networkName(b.attachment.Network),
			model.PodOf(a.sandbox.Pod), model.PodOf(b.sandbox.Pod), nodeName(a.sandbox.Node), nodeName(b.sandbox.Node),
		},
		facts: append(a.facts("first"), b.facts("second")...),
	}
}

// facts are the holder of an address, its node and the time, with name as a prefix of their names.
func (h *holding) facts(name string) []model.Fact {
	return []model.Fact{
		model.NewFact(name, model.PodOf(h.sandbox.Pod)), model.NewFact(name+"-node", nodeName(h.sandbox.Node)),
		model.NewFact(name+"-network", networkName(h.attachment.Network)), model.NewFact(name+"-interface", h.attachment.Interface),
		model.NewFact(name+"-since", h.attachment.Since),
	}
}
