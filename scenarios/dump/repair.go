package dump

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// What can go wrong with the commands; which scenario shows it.
const (
	// Source: calicoctl/calicoctl/commands/ipam, Release: --ip gives no handle and no
	// sequence number, so that whoever has the address by then loses it (v3.31).
	releaseCaution = "calicoctl ipam release --ip frees the address whoever has it by then: make sure that no pod has it, kubectl get pods -A -o wide; of many, calicoctl ipam check -o FILE and calicoctl ipam release --from-report=FILE free only what is unused in the report and has not changed since (w4-repair-too-early shows what happens to one that lives)"
	// An operation test of JSON patch fails the whole patch if the allocation is
	// another one by then. RFC 6902, 4.6 and 5.
	patchCaution = "the patch fails if the allocation has changed meanwhile, and nothing else is checked: a pod that lives would lose its address to the next one (t3-removing-a-live-one)"
	// Source: libcalico-go/lib/ipam, releaseBlockAffinity, which deletes a block that
	// is empty and then its affinity, each if it has not changed; kubectl does not
	// check (v3.31).
	blockCaution       = "kubectl deletes a block whatever is in it: look at calicoctl ipam show --show-blocks again right before, and let no pod start on its node meanwhile (w4-repair-too-early)"
	affinityCaution    = "kubectl deletes an affinity without looking at its block: a block that keeps its owner's name and has no affinity is used by nobody (found-calico-affinity-deleted)"
	reservationCaution = "a reservation is all that keeps an address from being given out in another range: make sure that no pod has it (whereabouts-207-overlap)"
	podCaution         = "a pod that is deleted and made again gets another address; on a node without a block of its own it borrows again, so give the node a block first"
	handleCaution      = "calicoctl ipam release --from-report wants the datastore locked, calicoctl datastore migrate lock, and meanwhile no pod gets an address; unlock it afterwards"
)

// repair is what an operator would type.
func (c *Cluster) repair(v *scenarios.View, x *model.Violation) (commands []string, caution string) {
	o := objectsOf(x)
	switch x.Invariant {
	case "leaked-claim", "convergence":
		return c.free(v, o)
	case "leftover-reservation":
		for _, key := range c.rangeReserved.keys() {
			if ns, name, _ := strings.Cut(key, "/"); name == o["reservation"] {
				return []string{deleteReservation(ns, name)}, reservationCaution
			}
		}
	case "leftover-handle":
		if c.unreferenced(o["handle"]) {
			return []string{"calicoctl ipam check -o report.json && calicoctl ipam release --from-report=report.json"}, handleCaution
		}
	case "leaked-affinity":
		if a := c.affinity(o["block"], o["node"]); a != nil && !c.etcd {
			return []string{"kubectl delete blockaffinities.crd.projectcalico.org " + reports.Shell(affinityName(a.value))}, affinityCaution
		}
	case "starved-node":
		return c.freeBlock(o["block"])
	case "blackholed-address", "duplicate-address", "unbacked-sandbox":
		if ns, name, ok := strings.Cut(o["pod"], "/"); ok && c.pods[o["pod"]] != nil {
			return []string{"kubectl delete pod -n " + reports.Shell(ns) + " " + reports.Shell(name)}, podCaution
		}
	}
	return nil, ""
}

// objectsOf are a violation's objects, by what they are; the last of each.
func objectsOf(x *model.Violation) map[string]string {
	out := map[string]string{}
	for _, o := range x.Objects {
		kind, name, _ := strings.Cut(o, " ")
		out[kind] = name
	}
	return out
}

// free gives a claimed address back.
func (c *Cluster) free(v *scenarios.View, o map[string]string) ([]string, string) {
	addr, err := netip.ParseAddr(o["address"])
	if err != nil {
		return nil, ""
	}
	if o["block"] != "" {
		return []string{"calicoctl ipam release --ip=" + addr.String()}, releaseCaution
	}
	for _, key := range c.rangePools.keys() {
		ns, name, _ := strings.Cut(key, "/")
		if name != o["pool"] {
			continue
		}
		p := c.rangePools[key].value
		first, err := netip.ParsePrefix(p.Range)
		if err != nil {
			continue
		}
		for _, k := range sortedOffsets(p.Allocations) {
			a := p.Allocations[k]
			if offset(first.Addr(), uint64(atoi(k))) != addr || a.PodRef != o["pod"] {
				continue
			}
			line := patchOut(ns, name, k, a)
			if r := c.reservation(addr, a.PodRef); r != "" {
				rns, rname, _ := strings.Cut(r, "/")
				line += " && " + deleteReservation(rns, rname)
			}
			return []string{line}, patchCaution
		}
	}
	return nil, ""
}

// patchOut takes an allocation out of a pool of Whereabouts', if it is still the
// same.
func patchOut(namespace, pool, key string, a allocation) string {
	patch, _ := json.Marshal([]map[string]string{
		{"op": "test", "path": "/spec/allocations/" + key + "/id", "value": a.ID},
		{"op": "remove", "path": "/spec/allocations/" + key},
	})
	return fmt.Sprintf("kubectl patch ippools.whereabouts.cni.cncf.io %s -n %s --type=json -p %s", reports.Shell(pool), reports.Shell(namespace), reports.Shell(string(patch)))
}

func deleteReservation(namespace, name string) string {
	return "kubectl delete overlappingrangeipreservations.whereabouts.cni.cncf.io " + reports.Shell(name) + " -n " + reports.Shell(namespace)
}

// reservation is the one that guards an address for a pod, "" if there is none.
func (c *Cluster) reservation(addr netip.Addr, podRef string) string {
	want := normalized(addr)
	for _, key := range c.rangeReserved.keys() {
		if c.rangeReserved[key].value.PodRef == podRef && (strings.HasSuffix(key, "/"+want) || strings.HasSuffix(key, "-"+want)) {
			return key
		}
	}
	return ""
}

// normalized is an address as Whereabouts names a reservation of it.
//
// Source: pkg/storage/kubernetes/ipam.go, NormalizeIP (v0.9.4).
func normalized(a netip.Addr) string {
	s := a.String()
	if strings.HasSuffix(s, ":") {
		s += "0"
	}
	return strings.ReplaceAll(s, ":", "-")
}

func (c *Cluster) affinity(block, node string) *item[affinitySpec] {
	for _, key := range c.affinities.keys() {
		if a := c.affinities[key]; a.value.CIDR == block && a.value.Node == node {
			return a
		}
	}
	return nil
}

// unreferenced reports whether no block knows of a handle: calicoctl calls that
// leaked.
//
// Source: calicoctl/calicoctl/commands/ipam, checkIPAM (v3.31).
func (c *Cluster) unreferenced(handle string) bool {
	for _, b := range c.blocks {
		for _, a := range b.value.Attributes {
			if deref(a.Handle) == handle {
				return false
			}
		}
	}
	return true
}

// freeBlock takes an empty block from its node.
func (c *Cluster) freeBlock(block string) ([]string, string) {
	b := c.blocks[block]
	if b == nil || c.etcd {
		return nil, ""
	}
	_, host, _ := strings.Cut(deref(b.value.Affinity), ":")
	a := c.affinity(block, host)
	if a == nil {
		return nil, ""
	}
	return []string{
		"kubectl delete ipamblocks.crd.projectcalico.org " + reports.Shell(blockName(block)) +
			" && kubectl delete blockaffinities.crd.projectcalico.org " + reports.Shell(affinityName(a.value)),
	}, blockCaution
}
