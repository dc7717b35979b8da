package whereabouts

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/k8snetworkplumbingwg/whereabouts/pkg/iphelpers"

	"ipamsim/sim/kube"
)

func describePool(x kube.Exchange) string {
	switch x.Verb {
	case "get":
		o, ok := answered(x)
		if !ok {
			return "asks for pool " + x.Name
		}
		return "reads pool " + x.Name + at(o) + ": " + holding(o)
	case "list":
		o, ok := answered(x)
		switch {
		case !ok || x.Response == nil:
			return "reads the pools"
		case len(o.Items) == 1:
			return "reads pool " + o.Items[0].Metadata.Name + at(&o.Items[0]) + ": " + holding(&o.Items[0])
		}
		return "reads " + pools(o.Items)
	case "create":
		return "creates the empty pool " + x.Name
	case "delete":
		return "deletes pool " + x.Name
	case "patch":
		return describePatch(x)
	case "event":
		if e := read(x.Response); e.Object != nil && e.Type != "DELETED" {
			return "sees pool " + x.Name + at(e.Object) + ": " + holding(e.Object)
		}
	}
	return ""
}

func at(o *stored) string {
	if o.Metadata.ResourceVersion == "" {
		return ""
	}
	return " at revision " + o.Metadata.ResourceVersion
}

func pools(items []stored) string {
	if len(items) == 0 {
		return "the pools: none"
	}
	var s []string
	for i := range items {
		s = append(s, fmt.Sprintf("%s%s holding %d", items[i].Metadata.Name, at(&items[i]), len(items[i].Spec.Allocations)))
	}
	return count(len(items), "pool") + ": " + some(s)
}

// holding lists the allocations by address: ".45 web-0, .46 web-1".
func holding(o *stored) string {
	type held struct {
		addr netip.Addr
		pod  string
	}
	var all []held
	first := firstOf(o.Spec.Range)
	for offset, a := range o.Spec.Allocations {
		if ip, ok := behind(first, offset); ok {
			all = append(all, held{ip, short(a.PodRef)})
		}
	}
	if len(all) == 0 {
		return "empty"
	}
	slices.SortFunc(all, func(a, b held) int { return a.addr.Compare(b.addr) })
	p, _ := netip.ParsePrefix(o.Spec.Range)
	s := make([]string, len(all))
	for i, h := range all {
		s[i] = tail(h.addr, p) + " " + h.pod
	}
	return some(s)
}

// tail leaves out the part of an address that all of its range share.
func tail(a netip.Addr, p netip.Prefix) string {
	if s := a.String(); a.Is4() && p.Bits() >= 24 {
		return s[strings.LastIndexByte(s, '.'):]
	}
	return a.String()
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

// describePatch reads the JSON patch that upstream computes: a test of the
// revision, then what is added, replaced and removed under /spec/allocations.
//
// Source: pkg/storage/kubernetes/ipam.go, (*KubernetesIPPool).Update (v0.9.4).
func describePatch(x kube.Exchange) string {
	var ops []struct {
		Op    string          `json:"op"`
		Path  string          `json:"path"`
		Value json.RawMessage `json:"value"`
	}
	if json.Unmarshal(x.Request, &ops) != nil {
		return ""
	}
	o, ok := answered(x)
	var first net.IP
	if ok {
		first = firstOf(o.Spec.Range)
	} else if p, ok := ranged(x.Name); ok {
		first = p.Addr().AsSlice()
	}
	name := func(offset string) string {
		if a, ok := behind(first, offset); ok {
			return a.String()
		}
		return "entry " + offset
	}
	revision := ""
	writes, changes, removes := []string{}, map[string]bool{}, []string{}
	for _, op := range ops {
		if op.Path == "/metadata/resourceVersion" {
			_ = json.Unmarshal(op.Value, &revision)
		}
		rest, ok := strings.CutPrefix(op.Path, "/spec/allocations/")
		if !ok || op.Op == "test" {
			continue
		}
		offset, field, _ := strings.Cut(rest, "/")
		switch {
		case field != "":
			changes[name(offset)] = true
		case op.Op == "remove":
			removes = append(removes, name(offset))
		default:
			var a allocation
			_ = json.Unmarshal(op.Value, &a)
			writes = append(writes, name(offset)+" for "+a.PodRef)
		}
	}
	var said []string
	for _, part := range []struct {
		verb string
		list []string
	}{{"writes", writes}, {"passes to another container", slices.Collect(maps.Keys(changes))}, {"removes", removes}} {
		if len(part.list) > 0 {
			slices.Sort(part.list)
			said = append(said, part.verb+" "+some(part.list))
		}
	}
	if len(said) == 0 {
		return ""
	}
	out := strings.Join(said, ", ")
	if revision != "" {
		out += ", if still at revision " + revision
	}
	if x.Status == 422 {
		out += ": refused, the pool has moved on"
	}
	return out
}
