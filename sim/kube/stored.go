package kube

import (
	"strings"

	"ipamsim/sim"
)

// Stored is a Peer's request to etcd, or an event from etcd: the Detail of a step.
type Stored struct {
	Verb                      string // get list create update delete; event for a watch's
	Resource, Namespace, Name string
	Object                    []byte // as sent, read or received; JSON decodes it. For a deletion: the deleted object
	If                        int64  // the revision that a write requires
	Revision                  int64  // of the written object, or of the object that was read or received
	Conflict                  bool   // the write was refused: If no longer holds
	Gone                      bool   // an event of a deletion
	Bare                      bool   // the trace had no room for Object
}

// Size returns the size of the object.
func (s Stored) Size() int { return len(s.Object) }

// Short returns a copy without the object.
func (s Stored) Short() any {
	s.Object, s.Bare = nil, true
	return s
}

func storedAt(verb string, key []byte) Stored { return Stored{Verb: verb}.named(key) }

// named sets the names from a key of etcd.
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

// request describes it to the schedule.
func (s *Stored) request() *sim.Request {
	return About(strings.ToUpper(s.Verb), s.Resource, s.Namespace, s.Name)
}
