// Package prose renders the steps and events of a run as sentences, for terminals, pages
// and issue texts. No other package does, and no package parses the sentences
// (sim/tidy_test.go): the data that they are made of has the same facts.
//
// A sentence contains control characters if a name in it does. The caller cleans it
// (reports.Clean).
package prose

import (
	"fmt"
	"strings"

	"ipamsim/model/act"
)

// kinds lists the kinds of objects that have their own renderer; object renders the rest.
var kinds = map[act.Kind]func(*act.Act) string{
	act.Block: block, act.Affinity: affinity, act.Handle: handle, act.IPAMConfig: config,
	act.IPPool: object, act.IPReservation: object, act.OwnNode: object,
	act.Pool: pool, act.Reservation: reservation, act.Lease: lease, act.Slices: nodeSlices, act.Pod: pod,
	act.Ledger: ledger, act.Pods: apiPod,
	act.File: file, act.Directory: file, act.Service: service, act.Cloud: cloud,
}

// Act describes what a message did, as a sentence without its subject: "reads block
// 10.64.75.0/26 of kubestage1001 at revision 7: 64 of 64 used". It returns "" if only the
// request is known; Asked then describes the request.
func Act(a *act.Act) string {
	if a.Bare || a.Verb == "" {
		return ""
	}
	if render := kinds[a.Thing.Kind]; render != nil {
		return render(a)
	}
	return object(a)
}

// about describes a read, a deletion or a watch event of any object. holds, its contents,
// follows a colon.
func about(a *act.Act, name, holds, what string) string {
	if holds != "" {
		holds = ": " + holds
	}
	switch {
	case a.Verb == act.Read && a.Outcome == act.Absent:
		return "finds no " + name
	case a.Verb == act.Read && a.Outcome == act.Done:
		return "reads " + name + at(&a.Thing) + holds
	case a.Verb == act.Read:
		return "requests " + name
	case a.Verb == act.Delete:
		return "deletes " + name + condition(a) + refusal(a, what)
	case a.Verb == act.Hear && a.Gone:
		return "observes that " + name + " was deleted"
	case a.Verb == act.Hear:
		return "observes " + name + holds
	}
	return ""
}

// list describes a list request; one renders each item.
func list(a *act.Act, what string, one func(*act.Thing) string) string {
	what += of(a.Thing.Owner.Name)
	if a.Outcome != act.Done {
		return "requests the " + what
	}
	return "reads the " + what + ": " + some(a.Thing.Parts, one)
}

func each(all []act.Thing, one func(*act.Thing) string) []string {
	out := make([]string, len(all))
	for i := range all {
		out[i] = one(&all[i])
	}
	return out
}

// someMax is the number of items of a list that a sentence names.
const someMax = 6

// some names the first items of a list, and counts all if there are more.
func some(all []act.Thing, one func(*act.Thing) string) string {
	n, before := len(all), ""
	if n > 0 && all[0].Kind == act.Others {
		n, before, all = n-1+all[0].Used, "… ", all[1:]
	}
	switch {
	case n == 0:
		return "none"
	case len(all) <= someMax:
		return before + strings.Join(each(all, one), ", ")
	}
	return fmt.Sprintf("%s%s, … %d in all", before, strings.Join(each(all[:someMax-1], one), ", "), n)
}

// condition describes the precondition of a write.
func condition(a *act.Act) string {
	if a.If == "" {
		return ""
	}
	return ", if still at revision " + a.If
}

// refusal describes why a write had no effect.
func refusal(a *act.Act, what string) string {
	switch a.Outcome {
	case act.Conflict:
		return ": refused, the " + what + " has changed"
	case act.Exists:
		return ": refused, it already exists"
	case act.Absent:
		return ": refused, it no longer exists"
	case act.Failed:
		return ": failed"
	}
	return ""
}

// at returns the revision that a read returned.
func at(t *act.Thing) string {
	if t.Revision == "" {
		return ""
	}
	return " at revision " + t.Revision
}

func of(node string) string {
	if node == "" {
		return ""
	}
	return " of " + node
}
