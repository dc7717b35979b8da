package act

import "ipamsim/model"

// Kind is the kind of a Thing. A kind that is not listed here is a resource of the
// Kubernetes API ("pods") or one of Calico's kinds ("FelixConfiguration").
type Kind string

// The kinds whose content managers decode.
const (
	Address  Kind = "address"
	Affinity Kind = "affinity" // of Owner, to the block of its name
	Block    Kind = "block"
	Entry    Kind = "entry" // of a pool, if the address that it stands for is not known
	Handle   Kind = "handle"
	Lease    Kind = "lease"
	Ledger   Kind = "ledger"
	Range    Kind = "range" // a part of a pool or a network, as a CIDR
	Slices   Kind = "node slices"
	Others   Kind = "others" // at the beginning of a list that was shortened: Used things that are left out

	Pool        Kind = "pool"        // allocated from a range
	Reservation Kind = "reservation" // of the address in Parts, across ranges
	Pod         Kind = "pod"         // as a reconciler judges it

	IPAMConfig    Kind = "IPAMConfig"
	Setting       Kind = "setting" // of an IPAMConfig; State is its value
	IPPool        Kind = "IPPool"
	IPReservation Kind = "IPReservation"
	OwnNode       Kind = "Node" // the manager's own object of a node; Of names the manager

	File      Kind = "file" // of the node that Owner names; Size is how many bytes were read or written
	Directory Kind = "directory"
	Text      Kind = "text"    // the beginning of the text that was read or written
	Service   Kind = "service" // a daemon behind a socket of the node that Owner names
	Cloud     Kind = "cloud"

	Pods  Kind = "pods" // as the API has them
	Nodes Kind = "nodes"
	// NetworkStatus is a pod's annotation, with the addresses that it names.
	NetworkStatus Kind = "network-status"
)

// Tunnel is the owner of the address of a node's own tunnel device. It is named after the
// node.
const Tunnel model.RefKind = "tunnel"

// States of things. An affinity has Calico's states; the state of a pod is its phase.
const (
	Awaited  = "awaited"  // a network-status that is yet to be written
	Disabled = "disabled" // a pool
	Taken    = "taken"    // a lease
	Renewed  = "renewed"
	Released = "released"
)

// Thing is an object, or a part of one, as a message contains it. Unknown fields are
// empty.
type Thing struct {
	Kind     Kind
	Name     string    // empty for the lease of a manager with only one
	Of       string    // of an OwnNode
	Owner    model.Ref // a block's node, an address's pod, a lease's holder
	Revision string
	State    string
	Deleted  bool   // marked as deleted, or being deleted
	Range    string // of a pool, a CIDR
	// Used and Size count the addresses of a block: claimed and all. Of a part of a
	// handle, Used is the handle's count in that block. Of a ledger, Used is the number
	// of claims, and Parts are the last ones.
	Used, Size int
	Parts      []Thing // its parts, in its own order
}

// named are the kinds that a model.Ref can name.
var named = map[Kind]model.RefKind{
	Address: model.RefAddress, Affinity: model.RefBlock, Block: model.RefBlock, Handle: model.RefHandle,
	Pool: model.RefPool, IPPool: model.RefPool, Reservation: model.RefReservation, IPReservation: model.RefReservation,
	Pod: model.RefPod, Pods: model.RefPod, OwnNode: model.RefNode, Nodes: model.RefNode,
}

// Ref names the thing; ok is false if no reference can name its kind. The reference of
// an affinity is that of its block.
func (t *Thing) Ref() (r model.Ref, ok bool) {
	kind, ok := named[t.Kind]
	return model.Ref{Kind: kind, Name: t.Name}, ok && t.Name != ""
}

// refs adds the thing and its owner.
func (t *Thing) refs(out []model.Ref) []model.Ref {
	if r, ok := t.Ref(); ok {
		out = append(out, r)
	}
	switch {
	case t.Owner.Name == "":
	case t.Owner.Kind == Tunnel:
		out = append(out, model.Ref{Kind: model.RefNode, Name: t.Owner.Name})
	default:
		out = append(out, t.Owner)
	}
	return out
}

// Part is the first part of a kind, nil if there is none.
func (t *Thing) Part(k Kind) *Thing {
	for i := range t.Parts {
		if t.Parts[i].Kind == k {
			return &t.Parts[i]
		}
	}
	return nil
}
