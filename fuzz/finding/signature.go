package finding

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"

	"ipamsim/fuzz/shape"
	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
)

// Signature is what a failure looks like before it is shrunk, cheaply: enough to
// know whether shrinking it is worth while, and what shrinking must not lose.
type Signature struct {
	Invariant string
	Message   string // the violation's words, without names, addresses and numbers
	// At is what broke it: "ip-reconciler PATCH ippools proceed", or handedOut. It is
	// "" where the passing of time did, or nobody can tell.
	At      string
	Faulted bool // a fault came before it
}

// SignatureOf looks at one violation of a run.
func SignatureOf(s *scenarios.Scenario, rep *reports.Report, v *model.Violation) Signature {
	return Signature{v.Invariant, words(s, v), at(rep.History, stepOf(rep.Trace, v), v), faults(rep.History, v) > 0}
}

// Broken reports whether a violation found after step st of a run with this
// history so far has this signature.
func (g Signature) Broken(s *scenarios.Scenario, st *sim.Step, v *model.Violation, h *model.History) bool {
	return v.Invariant == g.Invariant && g.same(Signature{v.Invariant, words(s, v), at(h, st, v), faults(h, v) > 0})
}

// same reports whether a violation may stand for this one. One after faults and one
// without are never the same: what a fault does, something else may do as well, and
// that is another failure.
func (g Signature) same(got Signature) bool {
	if g.At == "" {
		got.At = ""
	}
	return got == g
}

// In finds the violation of a run that has this signature.
func (g Signature) In(s *scenarios.Scenario, rep *reports.Report) *model.Violation {
	for i := range rep.Violations {
		v := &rep.Violations[i]
		if v.Invariant == g.Invariant && g.same(SignatureOf(s, rep, v)) {
			return v
		}
	}
	return nil
}

// String is 16 hexadecimal digits.
func (g Signature) String() string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\n%s\n%s\n%t", g.Invariant, g.Message, g.At, g.Faulted)
	return fmt.Sprintf("%016x", h.Sum64())
}

// slow are the invariants that are broken by time, some bound after the message
// that was the cause: which message comes just before says nothing. Those that are
// judged at rest are of the kind, too.
var slow = []string{"blackholed-address", "leaked-claim", "stuck"}

// handedOut is the moment at which an address reaches a sandbox: the last message
// of its ADD may be long past.
const handedOut = "an address is handed out"

// at is what broke it; st is the step after which it was found, nil if there was none.
// An ADD may also end between two steps, on a timer of its own: the message that comes
// next then has nothing to do with it, if the violation is about what was added.
func at(h *model.History, st *sim.Step, v *model.Violation) string {
	if slices.Contains(slow, v.Invariant) || invariant.AtRest(v.Invariant) {
		return ""
	}
	for i := range h.Events[v.From:v.To] {
		if e := &h.Events[v.From+i]; e.Kind == model.AddEnd && e.Err == "" && (e.Step == v.Step || about(v, e)) {
			return handedOut
		}
	}
	if st == nil {
		return ""
	}
	return written(st)
}

// about reports whether a violation is about the pod of an ADD, or its container: a
// handle is named after that.
func about(v *model.Violation, e *model.Event) bool {
	return slices.ContainsFunc(v.Objects, func(o model.Ref) bool {
		return o == model.PodOf(e.Pod) || e.Container != "" && strings.Contains(o.Name, e.Container)
	})
}

func stepOf(tr *sim.Trace, v *model.Violation) *sim.Step {
	i, ok := slices.BinarySearchFunc(tr.Steps, v.Step, func(st *sim.Step, n int) int { return st.Step - n })
	if !ok {
		return nil
	}
	return tr.Steps[i]
}

// written is the shape of a step that changed a server, or "".
func written(st *sim.Step) string {
	if st.Choice.Op.Kind != sim.Write {
		return ""
	}
	return message(st.Choice.Op) + " " + st.Choice.Outcome.String()
}

// message is the shape of a message, the same in both of Calico's datastores.
func message(op sim.Op) string {
	return shape.Of(op, func(verb, resource string) (string, string) {
		return cmp.Or(inKubernetes[verb], verb), cmp.Or(inKubernetes[resource], resource)
	})
}

// inKubernetes is what the words of the etcd datastore are in the Kubernetes API.
var inKubernetes = map[string]string{
	"Get": "GET", "List": "LIST", "Create": "POST", "Update": "PUT", "Delete": "DELETE",
	"block": "ipamblocks", "affinity": "blockaffinities", "handle": "ipamhandles", "ipamconfig": "ipamconfigs",
}

// faults is how many came before a violation.
func faults(h *model.History, v *model.Violation) (n int) {
	for i := range h.Events[:v.To] {
		if h.Events[i].Kind == model.FaultEvent {
			n++
		}
	}
	return n
}

var (
	named    = regexp.MustCompile(`name\\?"\s*:\s*\\?"([A-Za-z-]+)\\?"`) // in a CNI config, too, which is quoted
	inQuotes = regexp.MustCompile(`"[^"]*"`)
	word     = regexp.MustCompile(`^[A-Za-z][A-Za-z-]*$`)
	function = regexp.MustCompile(`^[a-z][a-z0-9_]*\.[A-Za-z(][A-Za-z0-9_.()*]*$`) // of Go, as model.CrashSite has it
)

// words are what is left of a message without quotations, names and numbers. A crash
// keeps the functions that it happened in: its value says little.
func words(s *scenarios.Scenario, v *model.Violation) string {
	names := map[string]bool{}
	for _, o := range s.Objects {
		for _, m := range named.FindAllSubmatch(o.Body, -1) {
			names[string(m[1])] = true
		}
	}
	var out []string
	for _, w := range strings.Fields(inQuotes.ReplaceAllString(v.Message, "")) {
		if w = strings.Trim(w, ",;:()"); word.MatchString(w) && !names[w] || v.Invariant == invariant.ActorCrash.Name && function.MatchString(w) {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}
