package prose

import (
	"regexp"
	"strconv"
	"strings"

	"ipamsim/model/act"
	"ipamsim/sim"
	"ipamsim/sim/way"
)

// Answer is what came of a message, where that is not what everybody expects: " -> 409
// Conflict", " -> revision 7". Told: the words of the act stand before it, and say
// already why a datastore of the manager's own refused.
func Answer(c *sim.Choice, a *act.Act, told bool) string {
	switch {
	case c.Outcome == sim.LoseReply:
		return " -> FAULT " + Fault(c) + ": done, but the answer is lost"
	case c.Outcome == sim.Stale:
		return " -> FAULT stale: an older state is read"
	case c.Outcome.Fault():
		return " -> FAULT " + Fault(c)
	case a.Error != "" && a.Status != 0:
		return strings.TrimRight(" -> "+strconv.Itoa(a.Status)+" "+a.Error, " ")
	case a.Error != "" && told:
		return ""
	case a.Error != "":
		return " -> " + Reason(a.Error)
	case a.Left != "":
		return " -> revision " + a.Left
	}
	return ""
}

// Fault is what the schedule did to a message: "fail-before (timeout)".
func Fault(c *sim.Choice) string {
	if w := way.Named(c); w != "" {
		return c.Outcome.String() + " (" + w + ")"
	}
	return c.Outcome.String()
}

// request is how client-go begins the error of a request: the longest part of
// most errors, and never the reason.
var request = regexp.MustCompile(`(Get|Put|Post|Patch|Delete) "[^"]*": `)

// Reason is upstream's error on one line, without the URLs.
func Reason(err string) string { return request.ReplaceAllString(firstLine(err), "") }

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
