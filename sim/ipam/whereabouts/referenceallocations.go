package whereabouts

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/k8snetworkplumbingwg/whereabouts/pkg/api/whereabouts.cni.cncf.io/v1alpha1"
	wbv1client "github.com/k8snetworkplumbingwg/whereabouts/pkg/generated/clientset/versioned/typed/whereabouts.cni.cncf.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"ipamsim/model"
)

// allocations are a listed pool, and the allocations to remove from it.
type allocations struct {
	pool    *v1alpha1.IPPool
	first   net.IP
	offsets []string // of all entries that have a number for one, in order of the numbers
	orphans []string // of those that will be removed, in the same order
}

// allocationsOf fails for a pool with an invalid range, which ends the whole pass.
//
// Source: pkg/storage/kubernetes/client.go, ListIPPools; ipam.go, toIPReservationList.
func allocationsOf(pool *v1alpha1.IPPool) (*allocations, error) {
	first, _, err := pool.ParseCIDR()
	if err != nil {
		return nil, err
	}
	a := &allocations{pool: pool, first: first}
	number := map[string]int64{}
	for offset := range pool.Spec.Allocations {
		if n, err := strconv.ParseInt(offset, 10, 64); err == nil {
			number[offset] = n
			a.offsets = append(a.offsets, offset)
		}
	}
	slices.SortFunc(a.offsets, func(x, y string) int {
		if number[x] != number[y] {
			return int(number[x] - number[y])
		}
		return strings.Compare(x, y)
	})
	return a, nil
}

func (a *allocations) holder(offset string) model.PodRef {
	return podRef(a.pool.Spec.Allocations[offset].PodRef)
}

// address is empty for an offset that leads nowhere.
func (a *allocations) address(offset string) string {
	if addr, ok := behind(a.first, offset); ok {
		return addr.String()
	}
	return ""
}

// write removes the orphans, on condition that the pool is still at the revision at which it was
// listed. A pool without orphans is not written. An entry whose offset is not a number is removed
// as well: upstream does not read it, and writes what it has read.
//
// Source: pkg/storage/kubernetes/ipam.go, (*KubernetesIPPool).Update;
// pkg/reconciler/iploop.go, ReconcileIPPools.
func (a *allocations) write(ctx context.Context, records wbv1client.WhereaboutsV1alpha1Interface) error {
	if len(a.orphans) == 0 {
		return nil
	}
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value string `json:"value,omitempty"`
	}
	patch := []operation{{Op: "test", Path: "/metadata/resourceVersion", Value: a.pool.ResourceVersion}}
	for _, offset := range append(a.orphans[:len(a.orphans):len(a.orphans)], a.illegible()...) {
		patch = append(patch, operation{Op: "remove", Path: "/spec/allocations/" + escape.Replace(offset)})
	}
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if _, err = records.IPPools(a.pool.Namespace).Patch(ctx, a.pool.Name, types.JSONPatchType, body, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("failed to update the reservation list: %w", err)
	}
	return nil
}

// escape is for a JSON pointer (RFC 6901).
var escape = strings.NewReplacer("~", "~0", "/", "~1")

func (a *allocations) illegible() []string {
	var out []string
	for offset := range a.pool.Spec.Allocations {
		if !slices.Contains(a.offsets, offset) {
			out = append(out, offset)
		}
	}
	slices.Sort(out)
	return out
}
