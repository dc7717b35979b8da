package whereabouts

import (
	"cmp"
	"encoding/json"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/k8snetworkplumbingwg/whereabouts/pkg/iphelpers"

	"ipamsim/model/act"
	"ipamsim/sim/kube"
)

// actOfPool describes the allocations of a range, and a patch of them.
func actOfPool(x kube.Exchange, a *act.Act) bool {
	a.Thing = act.Thing{Kind: act.Pool, Name: x.Name}
	switch a.Verb {
	case act.Read:
		o := answer(x)
		if o != nil {
			a.Thing = o.pool(x.Name)
		}
		return o != nil || a.Outcome != act.Done
	case act.List:
		return listed(x, a, act.Pool, func(o *stored) act.Thing { return o.pool(o.Metadata.Name) })
	case act.Create, act.Delete:
		return true
	case act.Patch:
		a.Verb = act.Update
		return patched(x, a)
	case act.Hear:
		if e := read(x.Response); e.Object != nil {
			a.Gone, a.Thing = e.Type == "DELETED", e.Object.pool(x.Name)
			return !a.Gone
		}
	}
	return false
}

// pool lists the allocations by address. Used is how many there are, with those that
// stand for no address.
func (o *stored) pool(name string) act.Thing {
	t := act.Thing{Kind: act.Pool, Name: name, Revision: o.Metadata.ResourceVersion, Range: o.Spec.Range, Used: len(o.Spec.Allocations)}
	type held struct {
		addr netip.Addr
		pod  string
	}
	var all []held
	first := firstOf(o.Spec.Range)
	for offset, a := range o.Spec.Allocations {
		if ip, ok := behind(first, offset); ok {
			all = append(all, held{ip, a.PodRef})
		}
	}
	slices.SortFunc(all, func(a, b held) int { return a.addr.Compare(b.addr) })
	for _, h := range all {
		t.Parts = append(t.Parts, act.Thing{Kind: act.Address, Name: h.addr.String(), Owner: podNamed(h.pod)})
	}
	return t
}

// behind is the address at an offset of an allocation.
func behind(first net.IP, offset string) (netip.Addr, bool) {
	n, err := strconv.ParseInt(offset, 10, 64)
	if err != nil || first == nil {
		return netip.Addr{}, false
	}
	a := addr(iphelpers.IPAddOffset(first, uint64(n)))
	return a, a.IsValid()
}

// patched reads the JSON patch that upstream computes: a test of the revision, then additions,
// replacements and removals under /spec/allocations.
//
// Source: pkg/storage/kubernetes/ipam.go, (*KubernetesIPPool).Update (v0.9.4).
func patched(x kube.Exchange, a *act.Act) bool {
	var ops []struct {
		Op    string          `json:"op"`
		Path  string          `json:"path"`
		Value json.RawMessage `json:"value"`
	}
	if json.Unmarshal(x.Request, &ops) != nil {
		return false
	}
	var first net.IP
	if o := answer(x); o != nil {
		first = firstOf(o.Spec.Range)
	} else if p, ok := ranged(x.Name); ok {
		first = p.Addr().AsSlice()
	}
	for _, op := range ops {
		if op.Path == "/metadata/resourceVersion" {
			_ = json.Unmarshal(op.Value, &a.If)
		}
		rest, ok := strings.CutPrefix(op.Path, "/spec/allocations/")
		if !ok || op.Op == "test" {
			continue
		}
		offset, field, _ := strings.Cut(rest, "/")
		t := act.Thing{Kind: act.Entry, Name: offset}
		if ip, ok := behind(first, offset); ok {
			t = act.Thing{Kind: act.Address, Name: ip.String()}
		}
		switch {
		case field != "":
			a.Passes = append(a.Passes, t)
		case op.Op == "remove":
			a.Takes = append(a.Takes, t)
		default:
			var to allocation
			_ = json.Unmarshal(op.Value, &to)
			t.Owner = podNamed(to.PodRef)
			a.Gives = append(a.Gives, t)
		}
	}
	for _, all := range [][]act.Thing{a.Gives, a.Takes, a.Passes} {
		slices.SortFunc(all, func(x, y act.Thing) int { return cmp.Compare(x.Name, y.Name) })
	}
	a.Passes = slices.CompactFunc(a.Passes, func(x, y act.Thing) bool { return x.Name == y.Name })
	return len(a.Gives)+len(a.Takes)+len(a.Passes) > 0
}
