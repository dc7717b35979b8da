// Package remedy simulates remediations of a broken cluster, in a run of the real code that
// begins with that cluster, before an operator is advised to apply them. A remedy that passes
// is reported with its cost, one that does not with the reason.
package remedy

import (
	"time"

	"ipamsim/model"
)

// Problem is a set of findings that one sequence of steps would fix.
type Problem struct {
	// Goals are the findings that must be gone afterwards.
	Goals []model.Violation
	// Needs is a node on which a pod, started at the end, must get an address from a block of
	// that node; "": none.
	Needs string
	// Starts are pods that wait for an address. At the end each must have one.
	Starts []model.PodRef
	// Holds reports whether the goals are still violated at the end of a run; nil: the
	// invariants decide.
	Holds func(*model.Truth) bool
	// Else is the decision that is left to the operator if there is no remedy, in one sentence
	// without a period.
	Else string
	// Try are the candidate remedies, the best first.
	Try []Remedy
	// Long is the number of commands of a remedy that was left out because it has too many to
	// type; 0: there is none.
	Long int
	// Ruled are the pods that rule out other remedies, with the reasons.
	Ruled []Ruled
	// Advice is printed before any remedy: the controller that should have acted.
	Advice *Advice
}

// Remedy is a sequence of steps.
type Remedy struct {
	Steps []Step
	// Pods lose their addresses. No other pod may.
	Pods []model.PodRef
	// Waits are the controllers that the remedy waits for. They run in the simulation.
	Waits []*Controller
	// Cautions are risks that the run cannot show.
	Cautions []Caution
}

// Step is one action of an operator.
type Step interface {
	// Say describes the action in one sentence without a period.
	Say() string
	// Commands returns the shell commands, quoted; none if the step only waits.
	Commands() []string

	// Perform adds the step to the script of a run.
	Perform(*Script)
}

// Aside is a step that changes neither the record nor pods: it affects only where pods start,
// or only reads.
type Aside interface {
	Step
	Aside()
}

// Ruled is a pod that cannot be moved, with the reason.
type Ruled struct {
	Pod        model.PodRef
	Why        Obstacle
	Annotation string // for OwnAddress: the annotation that requests the address
}

// Obstacle is why a pod cannot be restarted to get another address.
type Obstacle int

// The obstacles.
const (
	Movable    Obstacle = iota
	Bare                // no controller recreates it
	Static              // it is a static pod, defined by a file on its node
	OwnAddress          // it requests its address by annotation
	Work                // it belongs to a Job, which would start over
	Pinned              // it has a node affinity, which is not simulated
	Unknown             // the dump does not show its owner
)

// Say renders why the pod cannot be moved.
func (r Ruled) Say() string { return r.Pod.String() + " " + r.why() }

func (r Ruled) why() string {
	switch r.Why {
	case Bare:
		return "is a bare pod (no controller): deleting it is permanent"
	case Static:
		return "is a static pod: deleting it does not restart it"
	case OwnAddress:
		return "requests this address by the annotation " + r.Annotation + ", and would request it again"
	case Work:
		return "belongs to a Job, which would start over: wait until it has ended"
	case Pinned:
		return "has a node affinity, which is not simulated"
	case Unknown:
		return "has no owner in the dump: whether a controller would recreate it is not known"
	}
	return ""
}

// Caution is what the run cannot show, as a sentence without a period.
type Caution string

// PodCaution warns that a restarted pod is down for a while.
const PodCaution Caution = "a deleted pod is down until its replacement runs, and kubectl delete ignores PodDisruptionBudgets: delete the replicas of a workload one at a time. Volumes, resources and pod affinities are not simulated and may keep the replacement from starting"

// Advice names the controller that should have fixed the findings itself. Checking it first
// costs nothing.
type Advice struct {
	Controller *Controller
	// Pod is the controller's pod in the dump; the zero value: the dump has pods, but none of
	// the controller. NoPods: the dump has no pods at all.
	Pod    model.PodRef
	Phase  string
	NoPods bool
	// After is the controller's grace period, 0: none; Within is the time by which it must
	// have acted.
	After, Within time.Duration
}

// Controller is a process of a manager that should have acted. There is one value of each.
type Controller struct {
	Name  string // as in "is calico-kube-controllers running?"
	Works string // as in "It should WORKS after 15m"
	// Pods is the prefix of the names of its pods, Label their label, Logs a word that selects
	// the relevant lines of their logs.
	Pods, Label, Logs string
	// Daemon is its name among the daemons of a scenario; "": it cannot be simulated.
	Daemon string
}
