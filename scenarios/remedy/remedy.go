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
	// Controllers: it waits for calico-kube-controllers, which run meanwhile.
	Controllers bool
	// Cautions are what the run cannot show.
	Cautions []Caution
}

// Step is one thing that an operator does.
type Step interface {
	// Say is what is done, in one sentence without a period.
	Say() string
	// Commands are the lines for a shell, quoted; none where there is only to wait.
	Commands() []string

	perform(*stage)
}

// Ruled is a pod that cannot be moved, and why.
type Ruled struct {
	Pod model.PodRef
	Why Obstacle
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

// Say is the obstacle as the second half of a sentence.
func (o Obstacle) Say() string {
	switch o {
	case Bare:
		return "belongs to no controller, so that nobody would make it again"
	case Static:
		return "is a static pod: deleting it does not restart it"
	case OwnAddress:
		return "asks for this address by the annotation cni.projectcalico.org/ipAddrs, and would ask for it again"
	case Work:
		return "belongs to a Job, whose work would begin again: wait until it has ended"
	case Pinned:
		return "is bound to certain nodes by an affinity, which is not simulated"
	case Unknown:
		return "has no owner that the dump names, so that it is not known whether anybody would make it again"
	}
	return ""
}

// Caution is what the run cannot show.
type Caution int

// The cautions.
const (
	ReportCaution      Caution = iota // all that the report calls leaked is freed
	AddressCaution                    // whoever has the address by then loses it
	BlockCaution                      // kubectl deletes a block whatever is in it by then
	PatchCaution                      // the patch checks nothing but the claim
	ReservationCaution                // a reservation is all that guards an address
	PodCaution                        // the pod is down meanwhile
)

// Say is the caution as a sentence without a period.
//
// Source: calicoctl/calicoctl/commands/ipam, Release: a report must be of the locked
// datastore; --ip gives no handle and no sequence number (v3.31).
// libcalico-go/lib/ipam, releaseBlockAffinity, which deletes a block that is empty and
// then its affinity, each if it has not changed; kubectl does not check (v3.31).
// RFC 6902, 4.6 and 5: an operation test fails the whole patch.
func (c Caution) Say() string {
	switch c {
	case ReportCaution:
		return "while the datastore is locked no pod gets an address. Read the report first: all that it calls not in use is freed"
	case AddressCaution:
		return "the address is freed whoever has it by then: make sure that no pod has it, kubectl get pods -A -o wide"
	case BlockCaution:
		return "kubectl deletes a block whatever is in it: look at calicoctl ipam show --show-blocks right before, and let no pod start on its node meanwhile (scenarios/w4-repair-too-early.yaml)"
	case PatchCaution:
		return "the patch fails if the claim has changed meanwhile, and nothing else is checked: a pod that lives would lose its address to the next one (scenarios/t3-removing-a-live-one.yaml)"
	case ReservationCaution:
		return "a reservation is all that keeps an address from being given out in another range: make sure that no pod has it (scenarios/whereabouts-207-overlap.yaml)"
	case PodCaution:
		return "a pod that is deleted is down until its successor runs, and kubectl delete asks no PodDisruptionBudget: where several pods serve one purpose, delete one after the other. Volumes, resources and pod affinities, which may keep it from starting where the run has it, are not simulated"
	}
	return ""
}

// Advice is whose work it would have been. It costs nothing to ask first.
type Advice struct {
	Controller Controller
	// Pod is the controller's in the dump; the zero value: the dump has pods, and none of
	// it. Unsaid: the dump has no pods at all.
	Pod    model.PodRef
	Phase  string
	Unsaid bool
	// After is how long the controller leaves such a thing alone, 0: not at all; Within is
	// when it must have dealt with it.
	After, Within time.Duration
}

// Controller is a process that should have done something by itself.
type Controller int

// The controllers.
const (
	KubeControllers Controller = iota // calico-kube-controllers
	Whereabouts                       // the ip-reconciler of the whereabouts DaemonSet
)
