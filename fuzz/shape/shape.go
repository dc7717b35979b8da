// Package shape says what a message is without saying whose it is: names,
// addresses and numbers stripped. Two runs of one failure have other pods and
// other addresses; the shapes of their messages are the same.
package shape

import "ipamsim/sim"

// Op is kind of process, verb and kind of object: "cni-add PATCH ippools".
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
