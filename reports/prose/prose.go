// Package prose puts into words what happened in a run: what a message did, what an
// entry of the history says, what was answered. It is the only place that does, for
// terminal, page and issue text, and nothing may take its words apart again
// (sim/tidy_test.go): who wants to know something asks the data that they are made of.
//
// All texts are without control characters only if what they are made of is: whoever
// shows them cleans them.
package prose

import (
	"fmt"
	"strings"

	"ipamsim/model/act"
)

// kinds are the things of which there is more to say than that they were read or
// written.
var kinds = map[act.Kind]func(*act.Act) string{
	act.Block: block, act.Affinity: affinity, act.Handle: handle, act.IPAMConfig: config,
	act.IPPool: object, act.IPReservation: object, act.OwnNode: object,
	act.Pool: pool, act.Reservation: reservation, act.Lease: lease, act.Slices: nodeSlices, act.Pod: pod,
	act.Ledger: ledger, act.Pods: apiPod,
	act.File: file, act.Directory: file, act.Service: service, act.Cloud: cloud,
}

// Act is what a message did, as a sentence without its subject: "reads block
// 10.64.75.0/26 of kubestage1001 at revision 7: 64 of 64 used". It is "" if there is
// nothing to say beyond which request it was.
func Act(a *act.Act) string {
	if a.Bare || a.Verb == "" {
		return ""
	}
	if tell := kinds[a.Thing.Kind]; tell != nil {
		return tell(a)
	}
	return object(a)
}

// about is what is told in the same way of all things: that one was read, deleted or
// heard of. What it holds is told behind a colon.
func about(a *act.Act, name, holds, what string) string {
	if holds != "" {
		holds = ": " + holds
	}
	switch {
	case a.Verb == act.Read && a.Outcome == act.Absent:
		return "sees that there is no " + name
	case a.Verb == act.Read && a.Outcome == act.Done:
		return "reads " + name + at(&a.Thing) + holds
	case a.Verb == act.Read:
		return "asks for " + name
	case a.Verb == act.Delete:
		return "deletes " + name + condition(a) + refusal(a, what)
	case a.Verb == act.Hear && a.Gone:
		return "hears that " + name + " was deleted"
	case a.Verb == act.Hear:
		return "hears of " + name + holds
	}
	return ""
}

// list tells of a list of things, each in its own words.
func list(a *act.Act, what string, one func(*act.Thing) string) string {
	what += of(a.Thing.Owner.Name)
	if a.Outcome != act.Done {
		return "asks for the " + what
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

// someMax is how many of a list a sentence names.
const someMax = 6

// some names the first few of a list, and says how many there are if there are more.
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

// condition is what a write depends on.
func condition(a *act.Act) string {
	if a.If == "" {
		return ""
	}
	return ", if still at revision " + a.If
}

// refusal is why a write did nothing.
func refusal(a *act.Act, what string) string {
	switch a.Outcome {
	case act.Conflict:
		return ": refused, the " + what + " has moved on"
	case act.Exists:
		return ": refused, there is one already"
	case act.Absent:
		return ": refused, it is gone"
	case act.Failed:
		return ": failed"
	}
	return ""
}

// at is the revision that a read saw.
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
