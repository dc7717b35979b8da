package prose

import (
	"regexp"
	"strconv"
	"strings"

	"ipamsim/model/act"
	"ipamsim/sim"
	"ipamsim/sim/way"
)

// Answer returns the outcome of a message: " -> 409 Conflict", " -> revision 7", or "" for
// an ordinary one. described: the text of Act precedes it and already contains why the
// manager's own datastore refused the write.
func Answer(c *sim.Choice, a *act.Act, described bool) string {
	switch {
	case c.Outcome == sim.LoseReply:
		return " -> FAULT " + Fault(c) + ": applied, but the reply is lost"
	case c.Outcome == sim.Stale:
		return " -> FAULT stale: the read returns an older state"
	case c.Outcome.Fault():
		return " -> FAULT " + Fault(c)
	case a.Error != "" && a.Status != 0:
		return strings.TrimRight(" -> "+strconv.Itoa(a.Status)+" "+a.Error, " ")
	case a.Error != "" && described:
		return ""
	case a.Error != "":
		return " -> " + Reason(a.Error)
	case a.Left != "":
		return " -> revision " + a.Left
	}
	return ""
}

// Fault names the fault that the schedule injected into a message: "fail-before (timeout)".
func Fault(c *sim.Choice) string {
	if w := way.Named(c); w != "" {
		return c.Outcome.String() + " (" + w + ")"
	}
	return c.Outcome.String()
}

// request matches the prefix that client-go puts before a request's error: method and
// URL, never the reason.
var request = regexp.MustCompile(`(Get|Put|Post|Patch|Delete) "[^"]*": `)

// Reason returns the first line of an upstream error, without URLs.
func Reason(err string) string { return request.ReplaceAllString(firstLine(err), "") }

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
