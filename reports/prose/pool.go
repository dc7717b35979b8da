package prose

import (
	"fmt"
	"net/netip"
	"strings"

	"ipamsim/model/act"
	"ipamsim/reports/layout"
)

// pool describes an action on the allocations of a range: "reads pool X at revision 7: .45 web-0",
// "writes 10.128.40.47 for default/web-2, if still at revision 17".
func pool(a *act.Act) string {
	t := &a.Thing
	switch {
	case a.Verb == act.List && a.Outcome == act.Done && len(t.Parts) == 1:
		return "reads pool " + t.Parts[0].Name + at(&t.Parts[0]) + ": " + holding(&t.Parts[0])
	case a.Verb == act.List && a.Outcome == act.Done && len(t.Parts) > 1:
		return "reads " + layout.Plural(len(t.Parts), "pool") + ": " + some(t.Parts, func(t *act.Thing) string {
			return fmt.Sprintf("%s%s holding %d", t.Name, at(t), t.Used)
		})
	case a.Verb == act.List:
		return list(a, "pools", nil)
	case a.Verb == act.Create:
		return "creates the empty pool " + t.Name
	case a.Verb == act.Delete:
		return "deletes pool " + t.Name
	case a.Verb == act.Update:
		return allocated(a)
	case a.Verb == act.Read && a.Outcome != act.Done:
		return "requests pool " + t.Name
	case a.Verb == act.Hear:
		return "observes pool " + t.Name + at(t) + ": " + holding(t)
	}
	return about(a, "pool "+t.Name, holding(t), "pool")
}

// allocated lists the allocations that a write changes.
func allocated(a *act.Act) string {
	name := func(t *act.Thing) string {
		text := t.Name
		if t.Kind == act.Entry {
			text = "entry " + text
		}
		if t.Owner.Name != "" {
			text += " for " + t.Owner.Name
		}
		return text
	}
	var parts []string
	for _, part := range []struct {
		verb string
		list []act.Thing
	}{{"writes", a.Gives}, {"passes to another container", a.Passes}, {"removes", a.Takes}} {
		if len(part.list) > 0 {
			parts = append(parts, part.verb+" "+some(part.list, name))
		}
	}
	text := strings.Join(parts, ", ") + condition(a)
	if a.Outcome == act.Conflict {
		text += refusal(a, "pool")
	}
	return text
}

// holding lists the allocations by address: ".45 web-0, .46 web-1".
func holding(t *act.Thing) string {
	if len(t.Parts) == 0 {
		return "empty"
	}
	within, _ := netip.ParsePrefix(t.Range)
	return some(t.Parts, func(one *act.Thing) string { return tail(one.Name, within) + " " + familiar(one.Owner.Name) })
}

// tail cuts the part of an address that all addresses of its range share.
func tail(addr string, within netip.Prefix) string {
	if within.Addr().Is4() && within.Bits() >= 24 {
		return addr[strings.LastIndexByte(addr, '.'):]
	}
	return addr
}

// familiar returns a pod's name without the default namespace.
func familiar(pod string) string {
	if pod == "" {
		return "(no pod)"
	}
	return strings.TrimPrefix(pod, "default/")
}

// reservation describes an action on an OverlappingRangeIPReservation.
func reservation(a *act.Act) string {
	what := a.Thing.Name
	if addr := a.Thing.Part(act.Address); addr != nil {
		what = addr.Name
	}
	switch {
	case a.Verb == act.Create:
		return strings.TrimSpace("reserves " + what + " across ranges for " + a.Thing.Owner.Name)
	case a.Verb == act.Delete:
		return "deletes the reservation of " + what
	case a.Verb == act.List && a.Outcome == act.Done:
		return "reads " + layout.Plural(len(a.Thing.Parts), "reservation")
	case a.Verb == act.List:
		return list(a, "reservations", nil)
	case a.Outcome == act.Absent:
		return "finds no reservation of " + what
	case a.Outcome == act.Done:
		return "finds " + what + " reserved by " + a.Thing.Owner.Name
	}
	return "requests the reservation of " + what
}

func lease(a *act.Act) string {
	name := "the lease"
	if a.Thing.Name != "" {
		name += " " + a.Thing.Name
	}
	holder := a.Thing.Owner.Name
	switch {
	case a.Thing.State == act.Released:
		return "releases " + name
	case a.Thing.State == act.Taken:
		return "takes " + name + " as " + holder
	case a.Thing.State == act.Renewed:
		return "renews " + name + " as " + holder
	case a.Outcome == act.Absent:
		return "finds no " + strings.TrimPrefix(name, "the ")
	case a.Outcome != act.Done:
		return "reads " + name
	case holder == "":
		return "reads " + name + ": no holder"
	}
	return "reads " + name + ": held by " + holder
}

// nodeSlices describes an action on a NodeSlicePool, which assigns parts of a range to nodes.
func nodeSlices(a *act.Act) string {
	name := "the node slices " + a.Thing.Name
	holds := fmt.Sprintf("%d, none assigned", a.Thing.Size)
	if len(a.Thing.Parts) > 0 {
		holds = some(a.Thing.Parts, func(t *act.Thing) string { return t.Name + " " + t.Owner.Name })
	}
	switch {
	case a.Verb == act.Create:
		return "creates " + name + ": " + holds
	case a.Verb == act.Update:
		return "writes " + name + ": " + holds
	case a.Verb == act.Delete:
		return "deletes " + name
	case a.Outcome != act.Done:
		return "requests " + name
	}
	return about(a, name, holds, "")
}
