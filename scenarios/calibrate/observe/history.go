// Package observe reads when pods and nodes came and went from data: dumps of kubectl, range queries
// of Prometheus, audit logs of the API server, Kubernetes events. A Collector takes files in any
// order; its History combines them.
//
// There are two kinds of data. A scan (a dump, a scrape) lists everything that exists at an instant:
// objects that exist only between two scans are never seen, and the end of an object is only known to
// be between two of them. A log has each change with its time, for the period that it covers.
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
	// Scans are the instants at which all pods were listed, NodeScans those of nodes.
	Scans, NodeScans []time.Time
	// Windows are the periods for which each aspect is known; the zero Window if no file shows it.
	Windows [aspects]Window
	// Logged is the part of that time that logs cover, which show each change of a pod.
	Logged time.Duration
	// MaxPods is how many pods a kubelet takes, 0 if it is not known or not the same for
	// all nodes.
	MaxPods int
	// Restarts of containers, of pods that were watched so long.
	Restarts   int
	RestartsOf time.Duration
	Notes      []Note
}

// Aspect is a kind of fact that a file may show.
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
	Node            string // "": unknown
	Owner           Owner
	HostNetwork     bool
	// Born is when it was created; zero if unknown.
	Born time.Time
	// Entered is the time since which an end of the pod would be known: its birth, if that was observed,
	// otherwise the first scan that shows it. Zero: only its end is known.
	Entered time.Time
	// Last is when it was last known to run. If Ended, it ended after Last and not after
	// Gone: at Gone, if they are equal.
	Last, Gone time.Time
	Ended      bool
}

// Owner is the workload that a pod belongs to, by its controller.
type Owner struct {
	Kind, Name string // both "": a bare pod
	Known      bool   // false: the owner is unknown
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

// Note is a limitation of the data, or data that were skipped.
type Note struct {
	What  NoteKind
	Count int
	Name  string
}

// NoteKind is the kind of a Note.
type NoteKind uint8

// The notes.
const (
	NoteHostNetwork  NoteKind = iota // Count pods have the node's address
	NoteOwnerUnknown                 // the owner of Count pods is unknown
	NoteOtherObjects                 // Count objects of irrelevant kinds
	NoteOtherMetrics                 // Count series of irrelevant metrics
	NoteNoCordons                    // Name does not show cordons: audit level Metadata
	NoteManyDeleted                  // Count deletecollection calls: the pods are unknown
	NoteUnnamed                      // Count creations without a name in the log
	NoteScanTime                     // Name has no time of its own: the latest time in it is used
	NoteNoPods                       // Name has no pods
	NoteWithoutBirth                 // Count pods whose creation is unknown
	NoteEventsNoEnds                 // events do not show when pods end
	NoteNodeUnknown                  // the node of Count pods is unknown
)

// At reports whether a pod runs at an instant, as far as is known.
func (p *Pod) At(t time.Time) bool {
	from := p.Born
	if from.IsZero() {
		from = p.Entered
	}
	return !from.IsZero() && !from.After(t) && !t.After(p.Last) && !(p.Ended && p.Last.Equal(p.Gone) && p.Last.Equal(t))
}

// Gap returns the median time between two scans; 0 if there are fewer than two.
func Gap(scans []time.Time) time.Duration {
	var gaps []time.Duration
	for i := 1; i < len(scans); i++ {
		gaps = append(gaps, scans[i].Sub(scans[i-1]))
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
