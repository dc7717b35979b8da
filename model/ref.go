package model

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"
)

// RefKind is of what kind a Ref is.
type RefKind string

// What violations are about. A tunnel's sandbox is a pod without a namespace, named
// after its node.
const (
	RefActor       RefKind = "actor"
	RefAddress     RefKind = "address"
	RefBlock       RefKind = "block"
	RefCall        RefKind = "call"   // ADD or DEL
	RefConfig      RefKind = "config" // the status of a manager's configuration, by its name
	RefContainer   RefKind = "container"
	RefHandle      RefKind = "handle"
	RefNetwork     RefKind = "network" // by its key
	RefNode        RefKind = "node"
	RefNodePort    RefKind = "nodeport" // a number
	RefOutside     RefKind = "outside"  // an owner of addresses other than the cluster's pods, by the scenario's name
	RefPod         RefKind = "pod"      // NAMESPACE/NAME
	RefPool        RefKind = "pool"
	RefRange       RefKind = "range" // a prefix that a rule is about
	RefReservation RefKind = "reservation"
	RefRouter      RefKind = "router"
	RefService     RefKind = "service" // NAMESPACE/NAME
)

// RefKinds are all kinds, sorted.
func RefKinds() []RefKind {
	return []RefKind{
		RefActor, RefAddress, RefBlock, RefCall, RefConfig, RefContainer, RefHandle, RefNetwork, RefNode, RefNodePort, RefOutside, RefPod, RefPool, RefRange, RefReservation, RefRouter, RefService,
	}
}

// Ref names one thing. It is an identity: nothing that changes while the thing stays
// the same (times, revisions) belongs in it. As text, and in JSON, it is kind and name
// with a space between.
type Ref struct {
	Kind RefKind
	Name string
}

// PodOf names a pod.
func PodOf(p PodRef) Ref { return Ref{RefPod, p.String()} }

// AddressOf names an address.
func AddressOf(a netip.Addr) Ref { return Ref{RefAddress, a.String()} }

// BlockOf names a block.
func BlockOf(p netip.Prefix) Ref { return Ref{RefBlock, p.String()} }

func (r Ref) String() string { return string(r.Kind) + " " + r.Name }

// Compare orders by kind, then name. This is the order of the texts: no kind is a prefix of
// another.
func (r Ref) Compare(to Ref) int {
	return cmp.Or(cmp.Compare(r.Kind, to.Kind), cmp.Compare(r.Name, to.Name))
}

// MarshalText is String.
func (r Ref) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (r *Ref) UnmarshalText(text []byte) error {
	kind, name, ok := strings.Cut(string(text), " ")
	if !ok {
		return fmt.Errorf("object %q: want KIND NAME", text)
	}
	r.Kind, r.Name = RefKind(kind), name
	return nil
}

// Named is the name of the first of these that is of a kind, "" if none is.
func Named(refs []Ref, kind RefKind) string {
	for _, r := range refs {
		if r.Kind == kind {
			return r.Name
		}
	}
	return ""
}
