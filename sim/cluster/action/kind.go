package action

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/sim/cluster"
	"ipamsim/sim/ipam"
)

// Kind is one kind of action: everything that the scenario format, the search and the
// findings know about it. A new one is a file with its type and its Kind, and a line in
// all.go.
type Kind struct {
	// Name is the field of a timeline entry: "crash".
	Name string
	// Doc is one sentence for the table in scenarios/README.md.
	Doc   string
	Class model.Class
	Stops model.Stops
	// Hazards are the ways in which the schedule may choose the action; none: it may not.
	Hazards []Hazard
	// New returns an empty action.
	New func() cluster.Action
	// Check reports mistakes in an action before the run.
	Check func(Checker, cluster.Action)
	// Describe completes the ActionRef of an action; nil: Name and Class suffice.
	Describe func(cluster.Action, *model.ActionRef)
}

// define completes a kind with the type of its action.
func define[T any, A interface {
	*T
	cluster.Action
}](k Kind, check func(Checker, A)) Kind {
	k.New = func() cluster.Action { return A(new(T)) }
	k.Check = func(c Checker, a cluster.Action) { check(c, a.(A)) }
	return k
}

// described completes a kind whose class or object depends on the action.
func described[A cluster.Action](k Kind, describe func(A, *model.ActionRef)) Kind {
	k.Describe = func(a cluster.Action, ref *model.ActionRef) { describe(a.(A), ref) }
	return k
}

// All is every kind, sorted by name.
func All() []Kind { return slices.Clone(all) }

// Names are the names of all kinds, sorted.
func Names() (out []string) {
	for _, k := range all {
		out = append(out, k.Name)
	}
	return out
}

var byType = func() map[reflect.Type]*Kind {
	out := map[reflect.Type]*Kind{}
	for i := range all {
		out[reflect.TypeOf(all[i].New())] = &all[i]
	}
	return out
}()

// Of returns the kind of an action, the zero Kind if it is not listed.
func Of(a cluster.Action) Kind {
	if k := byType[reflect.TypeOf(a)]; k != nil {
		return *k
	}
	return Kind{}
}

// Ref is the entry of an action in the history.
func Ref(a cluster.Action) model.ActionRef {
	k := Of(a)
	ref := model.ActionRef{Kind: k.Name, Class: k.Class, Stops: k.Stops, Verb: k.Name}
	if k.Describe != nil {
		k.Describe(a, &ref)
	}
	return ref
}

// Hazards are the hazards of all kinds, sorted by name, with their kinds.
func Hazards() (out []Hazard) {
	for _, k := range all {
		for _, h := range k.Hazards {
			h.Class = k.Class
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b Hazard) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Hazard is an action that the schedule may choose, see package hazard.
type Hazard struct {
	Name string // in spec.hazards.kinds
	Doc  string
	// Needs returns what a cluster lacks for the hazard, or "".
	Needs func(Scope) string
	// Named: the hazard happens only if the scenario names it, because addresses become unreachable
	// or calls fail whatever the manager does, or because it needs the hermetic runtime.
	Named bool
	// Plan asks the schedule for everything there is to choose. A Planned without Action is
	// nothing.
	Plan func(context.Context, Draw) (Planned, error)

	Class model.Class // of its kind, set by Hazards
}

// Planned is the action of a hazard, and the action that ends it after a while unless it ends
// itself.
type Planned struct {
	cluster.Action
	After time.Duration
	Undo  cluster.Action // nil: it lasts, or ends by itself
}

// Scope describes the features of a cluster that hazards may need.
type Scope struct {
	Routes      bool // nodes announce routes
	Crons       bool // a reconciler runs on a schedule
	Deployments bool // a daemon runs that is not one of each node
	Disk        bool // the manager keeps files on nodes
	Cloud       bool // the manager calls a provider's API
	Networks    bool // CNI plugins attach pods to networks
}

// Draw asks the schedule. Answer 0 is the plainest.
type Draw interface {
	// Choose asks the schedule for one of n answers. It does not ask if n is 1.
	Choose(ctx context.Context, what string, n int) (int, error)
	// Node asks for a node that is on; ok is false if there is none.
	Node(ctx context.Context) (name string, ok bool, err error)
	// Duration asks for how long.
	Duration(ctx context.Context) (time.Duration, error)
	// Clip shortens what begins now so that it ends in time.
	Clip(d time.Duration) time.Duration
	// Process asks for a process of the manager and one of its messages, and waits for that
	// message; id is "" if the message never came.
	Process(ctx context.Context) (id string, err error)
	// Passes are the reconciler passes that could start now.
	Passes() []*Reconcile
	Cluster() *cluster.Cluster
}

// Checker is the scenario as the check of one of its actions sees it. Its methods report
// the first mistake with file and line. A field is the name of a field of the action.
type Checker interface {
	// Bad reports a mistake in a part of the action, nil for the action as a whole.
	Bad(is bool, part Part, format string, args ...any)
	// Node reports a node that is not there, or not there yet.
	Node(name, field string)
	// Process reports a process that cannot be there.
	Process(name, what, field string)
	// Workload reports a workload that the scenario does not have.
	Workload(kind, namespace, name, field string)
	// Resource reports a resource that is not served or cannot be changed.
	Resource(name, field string)
	// Object reports a name that no object can have.
	Object(name, field string)
	// Reconciler and Daemon report a name that is no process of that role.
	Reconciler(name, field string)
	Daemon(name, field string)

	Manager() *ipam.Manager
	Scope() Scope
	Nodes() []string
	// PluginTypes are the types of the CNI plugins of all networks.
	PluginTypes() []string
	// Until is the end of the run, Left the time from the action to it.
	Until() time.Duration
	Left() time.Duration

	// Quote quotes a text of the user. Want lists the allowed values and suggests the one that was
	// probably meant.
	Quote(text string) string
	Want(text string, known []string) string
}

// Part is a path to a part of an action: field names and indexes.
type Part []any
