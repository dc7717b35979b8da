package whereabouts

import (
	"context"
	"fmt"
	"slices"

	"github.com/k8snetworkplumbingwg/whereabouts/pkg/api/whereabouts.cni.cncf.io/v1alpha1"
	wbv1client "github.com/k8snetworkplumbingwg/whereabouts/pkg/generated/clientset/versioned/typed/whereabouts.cni.cncf.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// sliced is the client of a plugin in node-slice mode. It makes the plugin crash
// where the real one does, on the goroutine of the simulated process.
//
// The plugin asks for its node's slice to name its lease. If it gets none, it
// returns no elector (ipam.go:412) and runs it all the same (ipam.go:502): a nil
// dereference in a goroutine of its own, which ends the real process, and would
// end this one. The first answer decides; it comes before that goroutine is
// started.
type sliced struct {
	wbv1client.WhereaboutsV1alpha1Interface
	node  string
	asked bool
}

func (s *sliced) NodeSlicePools(ns string) wbv1client.NodeSlicePoolInterface {
	return nodeSlices{s.WhereaboutsV1alpha1Interface.NodeSlicePools(ns), s}
}

type nodeSlices struct {
	wbv1client.NodeSlicePoolInterface
	s *sliced
}

func (n nodeSlices) Get(ctx context.Context, name string, o metav1.GetOptions) (*v1alpha1.NodeSlicePool, error) {
	p, err := n.NodeSlicePoolInterface.Get(ctx, name, o)
	if n.s.asked {
		return p, err
	}
	n.s.asked = true
	if err == nil && !slices.ContainsFunc(p.Status.Allocations, func(a v1alpha1.NodeSliceAllocation) bool { return a.NodeName == n.s.node }) {
		err = fmt.Errorf("no allocated node slice for node")
	}
	if err != nil {
		panic(fmt.Sprintf("nil pointer dereference: the plugin runs a leader elector it did not get (pkg/storage/kubernetes/ipam.go:502), because node %s has no slice in NodeSlicePool %s: %v", n.s.node, name, err))
	}
	return p, nil
}
