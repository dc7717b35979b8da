package whereabouts

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
)

// namespace is the namespace of Whereabouts' objects.
const namespace = "kube-system"

// pools returns the names of the IPPools of networks without slices, and their prefixes.
//
// Source: whereabouts pkg/storage/kubernetes, IPPoolName (v0.9.4).
func pools(nets []network) (names []string, prefixes []netip.Prefix) {
	for _, n := range nets {
		for _, r := range append([]ipRange{n.conf.ipRange}, n.conf.Ranges...) {
			_, p, ok := r.prefix()
			if !ok || n.conf.Slice != "" {
				continue
			}
			name := strings.NewReplacer(":", "-", "/", "-").Replace(p.String())
			if n.conf.Name != "" {
				name = n.conf.Name + "-" + name
			}
			names, prefixes = append(names, name), append(prefixes, p)
		}
	}
	return names, prefixes
}

// repair is a repair by hand that manuals recommend, at a good or a bad time.
//
// Source: VMware KB 383841.
func (w *world) repair(nets []network) func(*space.World, time.Duration) {
	return func(_ *space.World, at time.Duration) {
		names, _ := pools(nets)
		if len(names) == 0 {
			return
		}
		pool := space.Pick(w.Choices, names...)
		if w.Chance(1, 3) {
			w.At(at, scenarios.Event{Action: &action.Patch{
				Resource: "ippools.whereabouts.cni.cncf.io", Namespace: namespace, Name: pool,
				JSON: []map[string]any{{"op": "remove", "path": fmt.Sprintf("/spec/allocations/%d", w.Between(1, 3))}},
			}})
			return
		}
		what := w.Int(3)
		if what != 1 {
			w.At(at, scenarios.Event{Action: &action.Delete{Resource: "ippools.whereabouts.cni.cncf.io", Namespace: namespace, Name: pool}})
		}
		if what != 0 {
			w.At(at, scenarios.Event{Action: &action.Delete{
				Resource: "overlappingrangeipreservations.whereabouts.cni.cncf.io", Namespace: namespace, All: true,
			}})
		}
	}
}

// prefill fills a pool in one of ten worlds: 15 to 45 low addresses are claimed before the first
// step by machines that are no pods, in a network's own pool or in a larger one. These worlds have
// no reconciler, because it would remove reservations that name no pod. prefill reports whether it
// did so.
func (w *world) prefill(nets []network) bool {
	if !w.Chance(1, 10) {
		return false
	}
	name, prefix := "10.10.0.0-16", netip.MustParsePrefix("10.10.0.0/16")
	names, prefixes := pools(nets)
	if i := slices.IndexFunc(prefixes, func(p netip.Prefix) bool { return p.Bits() == 24 }); i >= 0 && w.Chance(1, 2) {
		name, prefix = names[i], prefixes[i]
	}
	allocations, a := object{}, prefix.Addr()
	for i := range w.Between(15, 45) {
		a = a.Next()
		allocations[fmt.Sprint(i+1)] = object{"id": "", "podref": "", "ifname": ""}
		w.Add(object{
			"apiVersion": "whereabouts.cni.cncf.io/v1alpha1", "kind": "OverlappingRangeIPReservation",
			"metadata": object{"name": a.String(), "namespace": namespace}, "spec": object{"podref": "", "ifname": ""},
		})
	}
	w.Add(object{
		"apiVersion": "whereabouts.cni.cncf.io/v1alpha1", "kind": "IPPool",
		"metadata": object{"name": name, "namespace": namespace},
		"spec":     object{"range": prefix.String(), "allocations": allocations},
	})
	return true
}
