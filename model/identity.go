package model

import (
	"fmt"
	"slices"
)

// Identity identifies a violation across runs and dumps: the invariant, the kind of violation, and
// the objects.
type Identity struct {
	Invariant string `json:"invariant" jsonschema:"required"`
	// Code is the kind of break, for an invariant that has several; without it any.
	Code string `json:"code,omitempty"`
	// Objects are the things that it is about, each KIND NAME: "address 10.0.0.1",
	// "pod default/web-0". Not all of them need be named.
	Objects []Ref `json:"objects" jsonschema:"required"`
}

// Identity is which violation this is.
func (v *Violation) Identity() Identity { return Identity{v.Invariant, v.Code, v.Objects} }

// String is the identity as text: the same for the same identity, and only for it.
func (i Identity) String() string { return fmt.Sprintf("%s %s %q", i.Invariant, i.Code, i.Objects) }

// Fits reports whether i identifies a violation: same invariant and code, and all objects of i are
// objects of the violation. A violation of another pod, container or node is a different one.
func (i Identity) Fits(v *Violation) bool {
	if i.Invariant != v.Invariant || i.Code != "" && i.Code != v.Code || len(i.Objects) == 0 {
		return false
	}
	for _, o := range i.Objects {
		if !slices.Contains(v.Objects, o) {
			return false
		}
	}
	return true
}

// Known are violations that are already known. Nil knows none.
type Known struct {
	all []Identity
	by  map[Ref][]int // indexes in all, by the first object
}

// Know returns a Known with these identities. It keeps all.
func Know(all []Identity) *Known {
	k := &Known{all, make(map[Ref][]int, len(all))}
	for n, i := range all {
		if len(i.Objects) > 0 {
			k.by[i.Objects[0]] = append(k.by[i.Objects[0]], n)
		}
	}
	return k
}

// Has reports whether a violation is among them.
func (k *Known) Has(v *Violation) bool { return len(k.fitting(v)) > 0 }

// Without are the identities that fit none of these violations, in order.
func (k *Known) Without(seen []Violation) []Identity {
	if k == nil {
		return nil
	}
	found := make([]bool, len(k.all))
	for i := range seen {
		for _, n := range k.fitting(&seen[i]) {
			found[n] = true
		}
	}
	var out []Identity
	for n, i := range k.all {
		if !found[n] {
			out = append(out, i)
		}
	}
	return out
}

// fitting are the positions of those that a violation is.
func (k *Known) fitting(v *Violation) (out []int) {
	if k == nil {
		return nil
	}
	for _, o := range v.Objects {
		for _, n := range k.by[o] {
			if k.all[n].Fits(v) {
				out = append(out, n)
			}
		}
	}
	return out
}
