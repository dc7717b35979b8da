package model

import "strings"

// ActionRef identifies what an Operator or a FaultEvent did, without its target: it is equal in all
// runs in which the same kind of action happened.
type ActionRef struct {
	Kind   string // of an action of the timeline, "delete"; of a fault of one message its outcome, "lose-reply"
	Class  Class
	Stops  Stops
	Verb   string // "delete --force", "retype", "calicoctl"
	Object string // a resource, a kind, a subcommand: "pods", "Pod", "ipam release"; "": the verb suffices
}

// String is the verb and the object.
func (a ActionRef) String() string { return strings.TrimSpace(a.Verb + " " + a.Object) }

// Class classifies external actions by the demands that they make on an address manager.
type Class string

// The classes. An address manager has the most excuses for the last of Classes.
const (
	Ordinary       Class = ""         // normal operation: pods and Services come and go, nodes are drained, passes start
	InjectedFault  Class = "fault"    // a message is lost, late or wrong; a partition, a pause, a clock, a disk, a cloud
	Crash          Class = "crash"    // a process is killed, a machine loses its power or is replaced
	ForcedDeletion Class = "force"    // pods are deleted by force
	OperatorAction Class = "operator" // people edit objects, the manager's record or its settings
)

// Classes are all classes, those first for which an address manager has the fewest excuses.
func Classes() []Class {
	return []Class{Ordinary, InjectedFault, Crash, ForcedDeletion, OperatorAction}
}

// Stops is the part of the system that an action stops.
type Stops uint8

// Values of Stops.
const (
	StopsNothing   Stops = iota
	StopsMachine         // one machine and what runs on it
	StopsProcesses       // a process of the manager, or a service that it needs
	StopsDatastore       // the datastore, for every process
)
