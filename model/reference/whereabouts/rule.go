package whereabouts

import (
	"slices"
	"time"

	"ipamsim/model"
)

// Rule is how a reconciler decides whether a claim is still in use. All rules agree on a claim
// without a pod (it stays) and on a pod that is gone (its claims are released); they differ on
// a pod that exists.
type Rule string

const (
	// AddressInStatus is 0.9.4: the address must be in the pod's network-status. A
	// Pending pod without it is read again a few times before its claim goes.
	AddressInStatus Rule = "address-in-status"
	// SkipPending is the rule of 0.5.1 to 0.6.2: claims of a Pending pod stay, whatever its status;
	// the address of any other pod must be in its status.
	SkipPending Rule = "skip-pending"
	// PodExists: what a pod claims stays while there is a pod of that name.
	PodExists Rule = "pod-exists"
	// PodsFirst is AddressInStatus with the lists in the order of 0.5: a claim between the two
	// lists is compared with pods that are too old for it, whereas 0.9.4 compares claims that are
	// too old for the pods.
	PodsFirst Rule = "pods-first"
)

// Rules lists them all, upstream's own first.
func Rules() []Rule { return []Rule{AddressInStatus, SkipPending, PodExists, PodsFirst} }

// Valid reports whether there is such a rule. The other methods take one that is
// not for AddressInStatus.
func (r Rule) Valid() bool { return slices.Contains(Rules(), r) }

// PodsBeforePools reports which list a pass reads first. Reservations are listed
// after both.
//
// Source: pkg/reconciler/iploop.go, NewReconcileLooperWithClient (v0.9.4: pools).
func (r Rule) PodsBeforePools() bool { return r == PodsFirst }

// Claimed is an allocation of a pool, or a reservation across ranges, as a
// reconciler judges it.
type Claimed struct {
	Pod model.PodRef
	// Address is text, because upstream compares text: an allocation's as Go
	// writes it (fd00::1), a reservation's as Denormalized reads it.
	Address string
	// Reservation marks a claim that guards an address across ranges. A reservation without a
	// pod is orphaned; an allocation without a pod stays forever.
	Reservation bool
}

// Pod is what a reconciler sees of a pod.
type Pod struct {
	Ref     model.PodRef
	Pending bool // phase Pending
	// Marked: the taint manager deletes it (condition DisruptionTarget, True, with
	// the reason DeletionByTaintManager). Upstream takes it for gone; that it is
	// being deleted for any other reason does not count.
	Marked bool
	// IPs are the addresses in its network-status as written there, without those of the default
	// network; none if the annotation cannot be parsed.
	IPs []string
}

// Orphaned reports whether a claim is orphaned. pod is the pod that Live has for the claim, or
// the result of reading it again; nil if there is none.
//
// Source: pkg/reconciler/iploop.go, findOrphanedIPsPerPool, isOrphanedIP, whose result means
// the contrary of its name (v0.9.4).
func (r Rule) Orphaned(c Claimed, pod *Pod) bool {
	switch {
	case c.Pod == model.PodRef{}:
		return c.Reservation
	case pod == nil:
		return true
	case r == PodExists, r == SkipPending && pod.Pending:
		return false
	}
	return !slices.Contains(pod.IPs, c.Address)
}

// Before a Pending pod's claim is released, the pod is read again up to RefreshMax times, with
// a pause of RefreshPause after each read that shows no change.
//
// Source: pkg/storage/storage.go, PodRefreshRetries; pkg/reconciler/iploop.go, isOrphanedIP
// (v0.9.4).
const (
	RefreshMax   = 3
	RefreshPause = 250 * time.Millisecond
)

// Refreshes reports whether pod would have to be read again before the claim is released. It is
// false for nil, which also stands for a pod that could not be read for any reason: upstream
// considers it as gone.
func (r Rule) Refreshes(c Claimed, pod *Pod) bool {
	return pod != nil && pod.Pending && r.Orphaned(c, pod)
}

// Live are the pods that claims are judged by: those that are named by an
// allocation of some pool, and are not Marked. A pod that only reservations name
// is not among them, so these go. A pod that is read again is not asked for its
// mark.
//
// Source: pkg/reconciler/wrappedPod.go, indexPods (v0.9.4).
func Live(allocations []model.Claim, pods []Pod) map[model.PodRef]*Pod {
	served := map[model.PodRef]bool{}
	for i := range allocations {
		served[allocations[i].Pod] = true
	}
	live := map[model.PodRef]*Pod{}
	for i, p := range pods {
		if served[p.Ref] && !p.Marked {
			live[p.Ref] = &pods[i]
		}
	}
	return live
}
