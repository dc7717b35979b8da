package prose

import (
	"strconv"
	"strings"

	"ipamsim/model/act"
)

// config describes an action on the IPAM configuration, with calicoctl's names of its fields.
func config(a *act.Act) string {
	const name = "the IPAM configuration"
	settings := strings.Join(each(a.Thing.Parts, func(t *act.Thing) string { return t.Name + " " + t.State }), ", ")
	switch {
	case a.Verb == act.Read && a.Outcome == act.Absent:
		return "finds no IPAM configuration"
	case a.Verb == act.Read && a.Outcome == act.Done:
		return "reads " + name + ": " + settings
	case a.Verb == act.Create || a.Verb == act.Update:
		return "writes " + name + ": " + settings + condition(a) + refusal(a, "configuration")
	case a.Verb == act.Delete:
		return "deletes " + name + refusal(a, "configuration")
	case a.Verb == act.Hear:
		return ""
	}
	return about(a, name, "", "configuration")
}

// object describes an action on an object with a name: Calico's pools, reservations,
// nodes and other configuration.
func object(a *act.Act) string {
	what := titled(&a.Thing)
	if contents := describes(&a.Thing); contents != "" && a.Verb != act.Delete {
		what += " " + contents
	}
	switch a.Verb {
	case act.List:
		return objects(a)
	case act.Create:
		return "creates " + what + refusal(a, "object")
	case act.Update:
		if len(a.Gives) > 0 {
			what += ", which gets " + strings.Join(names(a.Gives), " and ")
		}
		return "changes " + what + condition(a) + refusal(a, "object")
	case act.Delete:
		return "deletes " + what + refusal(a, "object")
	case act.Read:
		if a.Outcome == act.Done { // its revision is of no interest
			return "reads " + what
		}
	}
	return about(a, what, "", "object")
}

func objects(a *act.Act) string {
	what := map[act.Kind]string{act.IPPool: "pools", act.IPReservation: "reservations", act.OwnNode: a.Thing.Of + " nodes"}[a.Thing.Kind]
	if what == "" {
		return ""
	}
	return list(a, what, func(t *act.Thing) string {
		switch {
		case t.Kind == act.IPPool:
			return t.Name + " " + t.Range
		case t.Kind == act.IPReservation:
			return t.Name + " " + strings.Join(names(t.Parts), " ")
		}
		return t.Name
	})
}

func names(all []act.Thing) []string { return each(all, func(t *act.Thing) string { return t.Name }) }

// titled returns the kind and the name of an object.
func titled(t *act.Thing) string {
	switch t.Kind {
	case act.Nodes:
		return "node " + t.Name
	case act.IPPool:
		return "pool " + t.Name
	case act.IPReservation:
		return "reservation " + t.Name
	case act.OwnNode:
		return t.Of + "'s node " + t.Name
	}
	return string(t.Kind) + " " + t.Name
}

// describes returns the contents of a pool or a reservation that matter to a reader.
func describes(t *act.Thing) string {
	switch {
	case t.Kind == act.IPReservation && len(t.Parts) > 0:
		return "of " + strings.Join(names(t.Parts), ", ")
	case t.Kind == act.IPPool && t.State == act.Disabled:
		return t.Range + " (disabled)"
	case t.Kind == act.IPPool:
		return t.Range
	}
	return ""
}

// ledger describes an action on the canary manager's record.
func ledger(a *act.Act) string {
	claims := "no claims"
	if len(a.Thing.Parts) > 0 {
		all := each(a.Thing.Parts, func(t *act.Thing) string { return t.Name + " of " + t.Owner.Name })
		if older := a.Thing.Used - len(all); older > 0 {
			all = append([]string{strconv.Itoa(older) + " older"}, all...)
		}
		claims = strings.Join(all, ", ")
	}
	name := "ledger " + a.Thing.Name
	switch {
	case a.Verb == act.Create:
		return "creates " + name + " with " + claims
	case a.Verb == act.Update:
		return "writes " + name + condition(a) + ": " + claims
	case a.Outcome != act.Done:
		return "requests " + name
	}
	return about(a, name, claims, "ledger")
}
