// Package shape says what a message is without saying whose it is: names,
// addresses and numbers stripped. Two runs of one failure have other pods and
// other addresses; the shapes of their messages are the same.
package shape

import (
	"strings"

	"ipamsim/sim"
)

// Op is kind of process, verb and kind of object: "cni-add PATCH ippools".
func Op(o sim.Op) string {
	verb, object := Verb(o), Kind(Object(o))
	if object == "" {
		return o.Actor.Kind() + " " + verb
	}
	return o.Actor.Kind() + " " + verb + " " + object
}

// Verb is the first word of a message.
func Verb(o sim.Op) string {
	verb, _, _ := strings.Cut(o.Key, " ")
	return verb
}

// Object is what a message is about: "ippools/kube-system/10.0.0.0-24", or ""
// for one that is about nothing that is stored. A status or a binding of a pod
// is about the pod, and a LIST about "ippools" as a whole.
func Object(o sim.Op) string {
	words := strings.Fields(o.Key)
	if len(words) < 2 {
		return ""
	}
	object := words[1]
	if o.Kind == sim.Event && len(words) > 2 && !strings.Contains(object, "/") {
		object = words[2] // HEAR MODIFIED pods/default/web-0 rv=37
	}
	object, _, _ = strings.Cut(object, "?")
	for _, sub := range []string{"/status", "/binding", "/scale"} {
		object = strings.TrimSuffix(object, sub)
	}
	return strings.TrimSuffix(object, "/")
}

// Kind is the kind of an object: "ippools" of a Kubernetes path, "block" or
// "ipam/config" of one in Calico's etcd.
func Kind(object string) string {
	path, etcd := strings.CutPrefix(object, "/calico/")
	parts := strings.Split(path, "/")
	switch {
	case !etcd:
		return parts[0]
	case parts[0] == "resources" && len(parts) > 3:
		return parts[3] // resources/v3/projectcalico.org/KIND/…
	case parts[0] == "ipam" && len(parts) > 2:
		return ipam[parts[2]]
	}
	return parts[0]
}

// ipam translates what stands below /calico/ipam/v2.
//
// Source: libcalico-go/lib/backend/model: BlockKey, BlockAffinityKey,
// IPAMHandleKey, IPAMConfigKey, IPAMHostKey (v3.31).
var ipam = map[string]string{
	"assignment": "block",
	"host":       "affinity",
	"handle":     "handle",
	"config":     "ipamconfig",
}
