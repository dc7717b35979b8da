// Package observe reads what data says of when pods and nodes came and went: dumps of
// kubectl's, range queries of Prometheus, audit logs of the API server, Kubernetes
// events. A Collector takes files in any order; its History is what they say together.
//
// There are two ways of knowing. A look (a dump, a scrape) lists all that is there at an
// instant: what came and went between two looks was never seen, and what went is only
// known to have gone between two of them. A log tells each change with its instant, of
// the time that it covers.
package observe

import (
	"cmp"
	"slices"
	"time"
)

// History is what is known of a cluster's pods and nodes. All times are UTC.
type History struct {
	Pods  []Pod  // by time of birth, then by name
	Nodes []Node // by name
	// Looks are the instants at which all pods were listed, NodeLooks those of nodes.
	Looks, NodeLooks []time.Time
	// Windows are the times that each aspect is known of, the zero Window where no file
	// tells of it.
	Windows [aspects]Window
	// Logged is how much of that time logs cover, which tell each change of a pod.
	Logged time.Duration
	// MaxPods is how many pods a kubelet takes, 0 if it is not known or not the same for
	// all nodes.
	MaxPods int
	// Restarts of containers, of pods that were watched so long.
	Restarts   int
	RestartsOf time.Duration
	Notes      []Note
}

// Aspect is something that a file may tell of, or not.
type Aspect uint8

// The aspects.
const (
	PodStarts Aspect = iota
	PodEnds
	Nodes   // that join and are gone
	Cordons // since when, until when a node takes no pods
	Ready   // since when, until when a node is silent or not ready
	aspects
)

// Window is a time that is known of.
type Window struct{ From, To time.Time }

// Length of the window; 0 for the zero Window.
func (w Window) Length() time.Duration { return w.To.Sub(w.From) }

// Cut is the part of a window that lies within another.
func (w Window) Cut(o Window) Window {
	out := Window{later(w.From, o.From), earlier(w.To, o.To)}
	if !out.From.Before(out.To) || w == (Window{}) {
		return Window{}
	}
	return out
}

// join is the window that covers both.
func (w Window) join(o Window) Window {
	switch {
	case w == (Window{}):
		return o
	case o == (Window{}):
		return w
	}
	return Window{earlier(w.From, o.From), later(w.To, o.To)}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Pod is one pod, from its creation to its end: until its containers have ended or its
// object is gone.
type Pod struct {
	Namespace, Name string
	Node            string // "": nobody tells
	Owner           Owner
	HostNetwork     bool
	// Born is when it was created; zero if nobody tells.
	Born time.Time
	// Entered is since when it would be known if the pod ended: its birth, if that was
	// watched; the first look that saw it, if it was not. Zero: its end alone is known.
	Entered time.Time
	// Last is when it was last known to run. If Ended, it ended after Last and not after
	// Gone: at Gone, if they are equal.
	Last, Gone time.Time
	Ended      bool
}

// Owner is the workload that a pod belongs to, by its controller.
type Owner struct {
	Kind, Name string // both "": a bare pod
	Known      bool   // false: nobody tells whose it is
}

// Remade reports whether another pod takes the place of one that ends. Whose owner is
// not known is taken for one of those: the number of pods is then the same.
func (o Owner) Remade() bool {
	if !o.Known {
		return true
	}
	switch o.Kind {
	case "", "Job", "CronJob", "Workflow", "PipelineRun", "TaskRun":
		return false
	}
	return true
}

// Node is one node, from when its object is created to when that is gone.
type Node struct {
	Name string
	Born time.Time // zero: not known
	// First and Last are when it was first and last known to be there; if Ended it went
	// after Last and not after Gone.
	First, Last, Gone time.Time
	Ended             bool
	Cordons, Silences []Span
}

// Span is a time that something lasts.
type Span struct {
	From, To time.Time
	// Began: its beginning was seen; otherwise it was so when the data begin. Over: its
	// end was seen; otherwise it was still so at To.
	Began, Over bool
}

// Note says what the data cannot tell, or was left out of them.
type Note struct {
	What  NoteKind
	Count int
	Name  string
}

// NoteKind is what a Note says.
type NoteKind uint8

// The notes.
const (
	NoteHostNetwork  NoteKind = iota // Count pods have the node's address
	NoteOwnerUnknown                 // of Count pods nobody tells the owner
	NoteOtherObjects                 // Count objects of kinds that say nothing
	NoteOtherMetrics                 // Count series of metrics that say nothing
	NoteNoCordons                    // Name tells nothing of cordons: audit level Metadata
	NoteManyDeleted                  // Count deletecollection calls: whose pods ended is not told
	NoteUnnamed                      // Count creations whose name the log does not tell
	NoteLooksTold                    // Name has no time of its own: taken is the latest that it names
	NoteNoPods                       // Name has no pods
	NoteWithoutBirth                 // Count pods whose creation is not told
	NoteEventsNoEnds                 // events do not tell when pods end
	NoteNodeUnknown                  // of Count pods nobody tells the node
)

// At reports whether a pod runs at an instant, as far as is known.
func (p *Pod) At(t time.Time) bool {
	from := p.Born
	if from.IsZero() {
		from = p.Entered
	}
	return !from.IsZero() && !from.After(t) && !t.After(p.Last) && !(p.Ended && p.Last.Equal(p.Gone) && p.Last.Equal(t))
}

// Gap is the typical time between two looks: half of the gaps are longer. 0: there are
// fewer than two.
func Gap(looks []time.Time) time.Duration {
	var gaps []time.Duration
	for i := 1; i < len(looks); i++ {
		gaps = append(gaps, looks[i].Sub(looks[i-1]))
	}
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// All is the window that the whole history covers.
func (h *History) All() (w Window) {
	for _, x := range h.Windows {
		w = w.join(x)
	}
	return w
}

func sortPods(all []Pod) {
	slices.SortFunc(all, func(a, b Pod) int {
		return cmp.Or(a.Born.Compare(b.Born), a.Last.Compare(b.Last), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}
