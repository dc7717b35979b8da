// Package act says as data what a message of an address manager did: the verb, what it
// was done to, what was read or expected, and what came of it. Reports choose, weigh
// and join by it; package prose puts it into words.
package act

import (
	"slices"

	"ipamsim/model"
)

// Verb is what a message does, in the words of the Kubernetes API, whatever datastore
// it went to. One that is not listed here is the API's own: "watch".
type Verb string

// The verbs.
const (
	Read   Verb = "get"
	List   Verb = "list"
	Create Verb = "create"
	Update Verb = "update" // of the object as a whole, or by a patch of which the manager says what is in it
	Patch  Verb = "patch"
	Delete Verb = "delete"
	Clear  Verb = "deletecollection"
	Hear   Verb = "event" // one event of a watch
	Stat   Verb = "stat"  // of a file; that it is there, and not what is in it
	Rename Verb = "rename"
	Sync   Verb = "sync"
	Lock   Verb = "lock"
	Unlock Verb = "unlock"
	Call   Verb = "call" // of a daemon or a cloud, the operation of the thing's name
)

// Outcome is what came of a message.
type Outcome string

// The outcomes.
const (
	Done     Outcome = ""
	Conflict Outcome = "conflict" // what the write depended on is not so any more
	Exists   Outcome = "exists"   // what was to be created is there already
	Absent   Outcome = "absent"   // it does not exist
	Failed   Outcome = "failed"   // refused or not done, for any other reason
)

// Act is what one message did. The zero Act is of a step that was no message.
type Act struct {
	Verb Verb
	// Thing is what the message is about: as it was found, of a read or an event; as it
	// was sent, of a write. Of a list only its kind, whose things it asks for, and what
	// there was: Parts.
	Thing       Thing
	Subresource string // "status"
	Gone        bool   // of an event: it was deleted
	// Unconfirmed, of the deletion of a pod: no kubelet has to say that its containers have
	// ended. Its grace period is over, or it is evicted from a node that is not ready.
	Unconfirmed bool

	// Gives are the addresses that a write assigns, each with its new owner; Takes those
	// that it releases, with the old one if that is known; Passes those that go from one
	// container to another of the same owner. All are sorted.
	Gives, Takes, Passes []Thing

	If      string // the revision that a write depends on, "" for none
	Outcome Outcome
	Left    string // the revision that a write left behind, "" if it is not known
	// Error is what the server said instead of doing it, in its own words; Status the
	// HTTP status of an answer of the API server, 0 of another datastore.
	Error  string
	Status int
	// Bare: what was sent or answered is not known, or cannot be read. Of Thing there are
	// then kind and name only.
	Bare bool
}

// Write reports whether the message was to change something.
func (a *Act) Write() bool {
	switch a.Verb {
	case Create, Update, Patch, Delete, Clear, Rename:
		return true
	}
	return false
}

// Refs are what the message is about: its thing, with whose it is and, unless it only
// heard of it, what it holds; of a list the things there were; and the addresses that it
// gives, takes and passes, with their owners. Each once, sorted.
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

// Releases reports whether the message takes an address from whoever has it, or drops a
// reservation of it.
func (a *Act) Releases(addr model.Ref) bool {
	if a.Thing.Kind == Reservation && a.Verb == Delete && slices.Contains(refsOf(a.Thing.Parts, nil), addr) {
		return true
	}
	return slices.Contains(refsOf(a.Takes, nil), addr)
}
