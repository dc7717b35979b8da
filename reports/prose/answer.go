package prose

import (
	"regexp"
	"strconv"
	"strings"

	"ipamsim/model/act"
	"ipamsim/sim"
)

// Answer is what came of a message, where that is not what everybody expects: " -> 409
// Conflict", " -> revision 7". Told: the words of the act stand before it, and say
// already why a datastore of the manager's own refused.
func Answer(o sim.Outcome, a *act.Act, told bool) string {
	switch {
	case o == sim.LoseReply:
		return " -> FAULT lose-reply: done, but the answer is lost"
	case o == sim.Stale:
		return " -> FAULT stale: an older state is read"
	case o.Fault():
		return " -> FAULT " + o.String()
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

// request is how client-go begins the error of a request: the longest part of
// most errors, and never the reason.
var request = regexp.MustCompile(`(Get|Put|Post|Patch|Delete) "[^"]*": `)

// Reason is upstream's error on one line, without the URLs.
func Reason(err string) string { return request.ReplaceAllString(firstLine(err), "") }

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
