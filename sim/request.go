package sim

import "strings"

// Request describes a message as data, in the terms of its protocol. Strategies, reports and
// searches use it; Op.Key is the same for people.
type Request struct {
	// Verb is GET LIST WATCH POST PUT PATCH DELETE, or EVENT for a frame of a watch, of the
	// Kubernetes API; Get List Watch Create Update Apply Delete of libcalico-go; HEAR of an
	// informer; otherwise an action of a simulated process: CREATE, STOP, DRAW.
	Verb string
	// Resource is "ippools", "pods"; in Calico's etcd "block", "affinity", "handle", "ipamconfig"
	// or, for objects that the API has too, the API's name; otherwise the object of Verb:
	// "sandbox". "" means none.
	Resource                     string
	Namespace, Name, Subresource string
	// Path is the unique path of a stored object: "ippools/kube-system/a", or Calico's key in etcd.
	// The path of a list is the common prefix of its members. "" for a message without a stored
	// object.
	Path  string
	Query string // selectors and revision of a list, from its "?" on; "?" alone for a name that the server generates
}

func (r *Request) String() string {
	s := r.Verb
	for _, part := range []struct{ before, text string }{{" ", r.Path}, {"/", r.Subresource}, {"", r.Query}} {
		if part.text != "" {
			s += part.before + part.text
		}
	}
	return s
}

// Collection is the path of the list that the object stands in.
func (r *Request) Collection() string {
	if i := strings.LastIndexByte(r.Path, '/'); i > 0 {
		return r.Path[:i]
	}
	return r.Path + "/"
}

// Meets reports whether two messages concern the same object, or one concerns a part of the other:
// an object of a collection, its status. A list with a query meets only messages with the same
// query, because the objects that it omits are unknown.
func (r *Request) Meets(to *Request) bool {
	if r == nil || to == nil || r.Path == "" || to.Path == "" {
		return false
	}
	if r.Path == to.Path && r.Subresource == to.Subresource {
		return r.Query == to.Query
	}
	return r.holds(to) || to.holds(r)
}

// holds reports whether another message concerns a part of this one's object.
func (r *Request) holds(part *Request) bool {
	rest, ok := strings.CutPrefix(part.Path, r.Path)
	return ok && r.Subresource == "" && r.Query == "" && (rest == "" || rest[0] == '/')
}
