package kube

import (
	"strings"

	"ipamsim/sim"
)

// Stored is what a Peer asks of etcd, or an event that etcd tells it: the Detail of a
// step.
type Stored struct {
	Verb                      string // get list create update delete; event for a watch's
	Resource, Namespace, Name string
	Object                    []byte // as it is sent, found or heard of; JSON reads it. Of an event of a deletion as it was
	If                        int64  // the revision that a write depends on
	Revision                  int64  // that a write left behind, or of the object that was found or heard of
	Conflict                  bool   // a write was not done: If is not so any more
	Gone                      bool   // of an event: it was deleted
	Bare                      bool   // the trace had no room for Object
}

// Size is that of the object.
func (s Stored) Size() int { return len(s.Object) }

// Short is it without the object.
func (s Stored) Short() any {
	s.Object, s.Bare = nil, true
	return s
}

func storedAt(verb string, key []byte) Stored { return Stored{Verb: verb}.named(key) }

// named has the names that a key of etcd's says.
func (s Stored) named(key []byte) Stored {
	path := strings.TrimSuffix(strings.TrimPrefix(string(key), prefix+"/"), "/")
	parts := strings.Split(path, "/")
	s.Resource = parts[0]
	switch len(parts) {
	case 2:
		s.Name = parts[1]
	case 3:
		s.Namespace, s.Name = parts[1], parts[2]
	}
	return s
}

// request is it as a schedule sees it.
func (s *Stored) request() *sim.Request {
	return About(strings.ToUpper(s.Verb), s.Resource, s.Namespace, s.Name)
}
