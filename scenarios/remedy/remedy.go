// Package remedy acts out what an operator could do about a cluster that something is
// wrong with: in a run of the real code that begins with that cluster, before anybody is
// told to do it. What passed is offered with what it took; what did not, with the reason.
package remedy

import (
	"time"

	"ipamsim/model"
)

// Problem is what one sequence of steps would mend.
type Problem struct {
	// Goals are the findings that must be gone afterwards.
	Goals []model.Violation
	// Needs is a node on which a pod that starts at the end must get an address of a block
	// of that node; "": none.
	Needs string
	// Starts are pods that wait for an address. At the end each must have one.
	Starts []model.PodRef
	// Holds reports whether the goals hold at the end of a run; nil: invariants judge them.
	Holds func(*model.Truth) bool
	// Else is what the operator has to decide where no remedy is known, in one sentence
	// without a period.
	Else string
	// Try are the remedies that are thought of, the best first.
	Try []Remedy
	// Ruled are the pods that stand in the way of any other one, with the reason.
	Ruled []Ruled
	// Advice comes before any remedy: what should have done it by itself.
	Advice *Advice
}

// Remedy is a sequence of steps.
type Remedy struct {
	Steps []Step
	// Pods lose their addresses by it. No other pod may.
	Pods []model.PodRef
	// Waits is for what controllers do meanwhile, which run in any case then.
	Waits []*Controller
	// Cautions are what the run cannot show.
	Cautions []Caution
}

// Step is one thing that an operator does.
type Step interface {
	// Say is what is done, in one sentence without a period.
	Say() string
	// Commands are the lines for a shell, quoted; none where there is only to wait.
	Commands() []string

	// Perform takes it in a run.
	Perform(*Stage)
}

// Aside is a step by which nothing of the record or of pods changes: it says where pods
// start, or looks.
type Aside interface {
	Step
	Aside()
}

// Ruled is a pod that cannot be moved, and why.
type Ruled struct {
	Pod        model.PodRef
	Why        Obstacle
	Annotation string // of OwnAddress: the one by which it asks
}

// Obstacle is why a pod is not restarted to get it another address.
type Obstacle int

// The obstacles.
const (
	Movable    Obstacle = iota
	Bare                // no controller makes it again
	Static              // it is the kubelet's own, of a file on its node
	OwnAddress          // it asks for its very address, by annotation
	Work                // its work would begin again: a Job's
	Pinned              // it may run on some nodes only, by an affinity, which is not simulated
	Unknown             // the dump does not say who made it
)

// Say says why the pod is not moved.
func (r Ruled) Say() string { return r.Pod.String() + " " + r.why() }

func (r Ruled) why() string {
	switch r.Why {
	case Bare:
		return "belongs to no controller, so that nobody would make it again"
	case Static:
		return "is a static pod: deleting it does not restart it"
	case OwnAddress:
		return "asks for this address by the annotation " + r.Annotation + ", and would ask for it again"
	case Work:
		return "belongs to a Job, whose work would begin again: wait until it has ended"
	case Pinned:
		return "is bound to certain nodes by an affinity, which is not simulated"
	case Unknown:
		return "has no owner that the dump names, so that it is not known whether anybody would make it again"
	}
	return ""
}

// Caution is what the run cannot show, as a sentence without a period.
type Caution string

// PodCaution is that a pod is down meanwhile.
const PodCaution Caution = "a pod that is deleted is down until its successor runs, and kubectl delete asks no PodDisruptionBudget: where several pods serve one purpose, delete one after the other. Volumes, resources and pod affinities, which may keep it from starting where the run has it, are not simulated"

// Advice is whose work it would have been. It costs nothing to ask first.
type Advice struct {
	Controller *Controller
	// Pod is the controller's in the dump; the zero value: the dump has pods, and none of
	// it. Unsaid: the dump has no pods at all.
	Pod    model.PodRef
	Phase  string
	Unsaid bool
	// After is how long the controller leaves such a thing alone, 0: not at all; Within is
	// when it must have dealt with it.
	After, Within time.Duration
}

// Controller is a process of a manager that should have done something by itself. There is
// one value of each.
type Controller struct {
	Name  string // as in "calico-kube-controllers running"
	Works string // the question whether it works is whether "WORKS", a sentence
	// Pods is what the names of its pods begin with, Label their label, Logs a word of the
	// lines of their logs that matter.
	Pods, Label, Logs string
	// Daemon is its name among the daemons of a scenario; "": it cannot be waited for.
	Daemon string
}
