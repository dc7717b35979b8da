package sim

import "strings"

// Request is what a message asks for and of what, in the words of its protocol. It is
// what a strategy, a report or a search goes by; Op.Key is the same for people.
type Request struct {
	// Verb is GET LIST WATCH POST PUT PATCH DELETE, or EVENT for a frame of a watch, of
	// the Kubernetes API; Get List Watch Create Update Apply Delete of libcalico-go; HEAR
	// of an informer; else what a process of ours does: CREATE, STOP, DRAW.
	Verb string
	// Resource is "ippools", "pods"; in Calico's etcd "block", "affinity", "handle",
	// "ipamconfig" or, of what is there under its own name, as in the API; else what
	// Verb is done to: "sandbox". "" is none.
	Resource                     string
	Namespace, Name, Subresource string
	// Path is where the object is among all that are stored: "ippools/kube-system/a",
	// Calico's key in etcd. Of a list it is what the paths of its members begin with. ""
	// is about nothing that is stored.
	Path  string
	Query string // selectors and revision of a list, from its "?" on; "?" alone for a name that is yet to be made
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

// Meets reports whether two messages are about the same, or one about a part of what
// the other is about: an object of a collection, its status. A list with a query meets
// none but its like, for what it leaves out is not known.
func (r *Request) Meets(to *Request) bool {
	if r == nil || to == nil || r.Path == "" || to.Path == "" {
		return false
	}
	if r.Path == to.Path && r.Subresource == to.Subresource {
		return r.Query == to.Query
	}
	return r.holds(to) || to.holds(r)
}

// holds reports whether another message is about a part of what this one is about.
func (r *Request) holds(part *Request) bool {
	rest, ok := strings.CutPrefix(part.Path, r.Path)
	return ok && r.Subresource == "" && r.Query == "" && (rest == "" || rest[0] == '/')
}
