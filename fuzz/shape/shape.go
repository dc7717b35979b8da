// Package shape describes a message without names, addresses and numbers. Two runs of the same failure
// have other pods and addresses, but the shapes of their messages are the same.
package shape

import "ipamsim/sim"

// Op returns the kind of process, the verb and the kind of object: "cni-add PATCH ippools".
func Op(o sim.Op) string {
	var r sim.Request
	if o.Request != nil {
		r = *o.Request
	}
	if r.Resource == "" {
		return o.Actor.Kind() + " " + r.Verb
	}
	return o.Actor.Kind() + " " + r.Verb + " " + r.Resource
}
