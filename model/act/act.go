// Package act describes as data what a message of an address manager did: the verb, the
// object, what was read or expected, and the outcome. Reports select and join messages
// by it; package prose renders it.
package act

import (
	"slices"

	"ipamsim/model"
)

// Verb is what a message does, as a verb of the Kubernetes API, for every datastore. A
// verb that is not listed here is the API's own: "watch".
type Verb string

// The verbs.
const (
	Read   Verb = "get"
	List   Verb = "list"
	Create Verb = "create"
	Update Verb = "update" // a PUT of the whole object, or a patch whose content the manager decodes
	Patch  Verb = "patch"
	Delete Verb = "delete"
	Clear  Verb = "deletecollection"
	Hear   Verb = "event" // one event of a watch
	Stat   Verb = "stat"  // of a file: whether it exists, without its content
	Rename Verb = "rename"
	Sync   Verb = "sync"
	Lock   Verb = "lock"
	Unlock Verb = "unlock"
	Call   Verb = "call" // of a daemon or a cloud; the thing's name is the operation
)

// Outcome is the result of a message.
type Outcome string

// The outcomes.
const (
	Done     Outcome = ""
	Conflict Outcome = "conflict" // the precondition of the write no longer holds
	Exists   Outcome = "exists"   // the object to create already exists
	Absent   Outcome = "absent"   // the object does not exist
	Failed   Outcome = "failed"   // refused or not done, for any other reason
)

// Act is what one message did. A step that was no message has the zero Act.
type Act struct {
	Verb Verb
	// Thing is the object of the message: of a read or an event, as it was found; of a
	// write, as it was sent. For a list it has only the kind, the owner that the list is
	// limited to, and the objects found, as Parts.
	Thing       Thing
	Subresource string // "status"
	Gone        bool   // of an event: it was deleted
	// Unconfirmed, of the deletion of a pod: no kubelet has to say that its containers have
	// ended. Its grace period is over, or it is evicted from a node that is not ready.
	Unconfirmed bool

	// Gives are the addresses that a write assigns, each with its new owner. Takes are the
	// addresses that it releases, with the old owner if that is known. Passes are the
	// addresses that move between containers of one owner. All are sorted.
	Gives, Takes, Passes []Thing

	If      string // the revision that a write depends on, "" for none
	Outcome Outcome
	Left    string // the revision that a write left behind, "" if it is not known
	// Error is the server's error message. Status is the HTTP status of an answer of the
	// API server, 0 for another datastore.
	Error  string
	Status int
	// Bare: the sent or returned object is unknown, or cannot be decoded. Thing then has only its
	// kind and name.
	Bare bool
}

// Write reports whether the message is a write.
func (a *Act) Write() bool {
	switch a.Verb {
	case Create, Update, Patch, Delete, Clear, Rename:
		return true
	}
	return false
}

// Refs are the objects of the message: its thing and the thing's owner; the parts, unless
// the message is a watch event; for a list, the objects found; and the addresses that the
// message gives, takes and passes, with their owners. Each occurs once; they are sorted.
func (a *Act) Refs() []model.Ref {
	out := a.Thing.refs(nil)
	if a.Verb != Hear {
		for i := range a.Thing.Parts {
			out = a.Thing.Parts[i].refs(out)
			if a.Verb != List {
				out = refsOf(a.Thing.Parts[i].Parts, out)
			}
		}
	}
	for _, all := range [][]Thing{a.Gives, a.Takes, a.Passes} {
		out = refsOf(all, out)
	}
	slices.SortFunc(out, model.Ref.Compare)
	return slices.Compact(out)
}

func refsOf(all []Thing, out []model.Ref) []model.Ref {
	for i := range all {
		out = all[i].refs(out)
	}
	return out
}

// Releases reports whether the message takes an address from its owner, or drops a
// reservation of it.
func (a *Act) Releases(addr model.Ref) bool {
	if a.Thing.Kind == Reservation && a.Verb == Delete && slices.Contains(refsOf(a.Thing.Parts, nil), addr) {
		return true
	}
	return slices.Contains(refsOf(a.Takes, nil), addr)
}
