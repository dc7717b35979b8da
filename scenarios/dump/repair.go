package dump

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// What can go wrong with the commands; which scenario of ipamsim's shows it.
const (
	// Source: calicoctl/calicoctl/commands/ipam, Release: a report must be of the locked
	// datastore; --ip gives no handle and no sequence number, so that whoever has the
	// address by then loses it (v3.31).
	releaseCaution = "while the datastore is locked no pod gets an address. Read the report first: all that it calls not in use is freed, and with IPv6 tunnels these, too (scenarios/found-calico-check-frees-ipv6-tunnels.yaml). calicoctl ipam release --ip needs no lock and frees the address whoever has it by then: make sure that no pod has it, kubectl get pods -A -o wide"
	// An operation test of JSON patch fails the whole patch if the allocation is
	// another one by then. RFC 6902, 4.6 and 5.
	patchCaution = "the patch fails if the allocation has changed meanwhile, and nothing else is checked: a pod that lives would lose its address to the next one (scenarios/t3-removing-a-live-one.yaml)"
	// Source: libcalico-go/lib/ipam, releaseBlockAffinity, which deletes a block that
	// is empty and then its affinity, each if it has not changed; kubectl does not
	// check (v3.31).
	blockCaution       = "kubectl deletes a block whatever is in it: look at calicoctl ipam show --show-blocks again right before, and let no pod start on its node meanwhile (scenarios/w4-repair-too-early.yaml)"
	affinityCaution    = "kubectl deletes an affinity without looking at its block: a block that keeps its owner's name and has no affinity is used by nobody (scenarios/found-calico-affinity-deleted.yaml)"
	reservationCaution = "a reservation is all that keeps an address from being given out in another range: make sure that no pod has it (scenarios/whereabouts-207-overlap.yaml)"
	podCaution         = "a pod that is deleted and made again gets another address; on a node whose own blocks are full it borrows again"
	mendCaution        = "its pod would borrow again on its node: the steps after \"mend:\" below come first"
)

// What calicoctl's own check finds is freed by calicoctl, if it has not changed since.
//
// Source: calicoctl/calicoctl/commands/ipam, releaseFromReports: the datastore is
// locked, and the report was made meanwhile (v3.31).
var fromReport = []string{
	"calicoctl datastore migrate lock",
	"calicoctl ipam check --show-problem-ips -o report.json",
	"calicoctl ipam release --from-report=report.json",
	"calicoctl datastore migrate unlock",
}

// repair is what an operator would type.
func (c *Cluster) repair(v *scenarios.View, m *Mend, f *Finding) {
	o := objectsOf(&f.Violation)
	switch f.Invariant {
	case "leaked-claim", "convergence":
		if addr, err := netip.ParseAddr(o[model.RefAddress]); err == nil && o[model.RefBlock] != "" {
			f.Repair, f.Instead, f.Caution = fromReport, "calicoctl ipam release --ip="+addr.String(), releaseCaution
		} else if err == nil {
			f.Repair, f.Caution = c.free(addr, o)
		}
	case "leftover-reservation":
		for _, key := range c.rangeReserved.keys() {
			if ns, name, _ := strings.Cut(key, "/"); name == o[model.RefReservation] {
				f.Repair, f.Caution = []string{deleteReservation(ns, name)}, reservationCaution
			}
		}
	case "leftover-handle":
		if unreferenced(v, o[model.RefHandle]) {
			f.Repair, f.Caution = fromReport, releaseCaution
		}
	case "leaked-affinity":
		if a := c.affinity(o[model.RefBlock], o[model.RefNode]); a != nil && !c.etcd {
			f.Repair, f.Caution = []string{"kubectl delete blockaffinities.crd.projectcalico.org " + reports.Shell(affinityName(a.value))}, affinityCaution
		}
	case "starved-node":
		f.Repair, f.Caution = c.freeBlock(o[model.RefBlock])
	case "blackholed-address":
		f.Check = check(&f.Violation, o[model.RefAddress])
		if m.moves(o[model.RefPod]) {
			f.Caution = mendCaution
			return
		}
		fallthrough
	case "duplicate-address", "unbacked-sandbox":
		if ns, name, ok := strings.Cut(o[model.RefPod], "/"); ok && c.pods[o[model.RefPod]] != nil {
			f.Repair, f.Caution = []string{"kubectl delete pod -n " + reports.Shell(ns) + " " + reports.Shell(name)}, podCaution
		}
	}
}

// check tells whether packets to an address are lost.
//
// Source: Linux, net/ipv4/fib_semantics.c, fib_props: to ask for a blackhole is EINVAL.
func check(x *model.Violation, addr string) string {
	sender, _ := model.FactOf[model.Ref](x.Facts, "from")
	from := reports.Clean(sender.Name)
	if x.Code == invariant.DroppedAtSource || x.Code == invariant.SomeDroppedAtSource {
		return fmt.Sprintf("ip route get %s on %s: Invalid argument if it is so; a route if routers tell %s of this very address, and all is well", addr, from, from)
	}
	return fmt.Sprintf("ping -c 3 %s on %s", addr, from)
}

// objectsOf are a violation's objects, by what they are; the last of each.
func objectsOf(x *model.Violation) map[model.RefKind]string {
	out := map[model.RefKind]string{}
	for _, o := range x.Objects {
		out[o.Kind] = o.Name
	}
	return out
}

// free gives an address that Whereabouts has claimed back.
func (c *Cluster) free(addr netip.Addr, o map[model.RefKind]string) ([]string, string) {
	for _, key := range c.rangePools.keys() {
		ns, name, _ := strings.Cut(key, "/")
		if name != o[model.RefPool] {
			continue
		}
		p := c.rangePools[key].value
		first, err := netip.ParsePrefix(p.Range)
		if err != nil {
			continue
		}
		for _, k := range sortedOffsets(p.Allocations) {
			a := p.Allocations[k]
			if offset(first.Addr(), uint64(atoi(k))) != addr || a.PodRef != o[model.RefPod] {
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

// unreferenced reports whether no address is claimed by a handle: calicoctl calls that
// leaked.
//
// Source: calicoctl/calicoctl/commands/ipam, checkIPAM (v3.31).
func unreferenced(v *scenarios.View, handle string) bool {
	return !slices.ContainsFunc(v.Record.Claims, func(cl model.Claim) bool { return cl.Handle == handle })
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
