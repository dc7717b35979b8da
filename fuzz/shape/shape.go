// Package shape says what a message is without saying whose it is: names,
// addresses and numbers stripped. Two runs of one failure have other pods and
// other addresses; the shapes of their messages are the same.
package shape

import "ipamsim/sim"

// Op is kind of process, verb and kind of object: "cni-add PATCH ippools".
func Op(o sim.Op) string {
	return Of(o, func(verb, resource string) (string, string) { return verb, resource })
}

// Of is Op in other words for verb and kind of object.
func Of(o sim.Op, in func(verb, resource string) (string, string)) string {
	var verb, resource string
	if o.Request != nil {
		verb, resource = in(o.Request.Verb, o.Request.Resource)
	}
	if resource == "" {
		return o.Actor.Kind() + " " + verb
	}
	return o.Actor.Kind() + " " + verb + " " + resource
}
