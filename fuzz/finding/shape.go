package finding

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// shapeOf says what happened in a shrunk run, one word or two a line, without
// names, addresses, times and seeds: what broke, at which kind of message, what
// was hurt and what had to wait, what operators did.
func shapeOf(s *scenarios.Scenario, rep *reports.Report, g Signature, rules []strategy.Exception) []string {
	ops := map[strategy.Message]sim.Op{}
	for _, st := range rep.Trace.Steps {
		op := st.Choice.Op
		ops[strategy.Message{Actor: op.Actor, Life: op.Life, Seq: op.Seq}] = op
	}
	also := map[string]bool{}
	waits := len(rules) <= waitsMax // who waits by chance says nothing
	for _, e := range rules {
		switch m := e.Message; {
		case e.Outcome.Fault():
			also[fmt.Sprintf("%s: %s", message(ops[m]), e.Outcome)] = true
		case e.Outcome == sim.Proceed && e.Before == strategy.Message{}: // a Draw: see what it led to
		case waits:
			if m = e.Before; m.Actor == "" {
				m = e.Message
			}
			also[m.Actor.Kind()+" waits"] = true
		}
	}
	for _, e := range s.Doc.Spec.Timeline {
		if what := deed(e); what != "" {
			also["operator: "+what] = true
		}
	}
	out := []string{g.Invariant, g.Message}
	if g.At != "" {
		out = append(out, "at "+g.At)
	}
	return append(out, slices.Sorted(maps.Keys(also))...)
}

// waitsMax exceptions say who must wait; more are a schedule that did not shrink.
const waitsMax = 4

// deed is what an operator did, so far as it tells failures apart: there are many
// ways to make a pod, to take one away and to start a reconciler.
func deed(e scenarios.Event) string {
	switch kind := e.Kind(); {
	case kind == "reconcile", kind == "scale", kind == "drain", kind == "delete" && slices.Contains(workloadResources, e.Delete.Resource):
		return ""
	case kind == "apply":
		var o struct{ Kind string }
		if json.Unmarshal(e.Apply.Object, &o) != nil || slices.Contains(workloads, o.Kind) {
			return ""
		}
		return "apply " + o.Kind
	case kind == "delete":
		return "delete " + e.Delete.Resource
	case kind == "patch":
		return "patch " + e.Patch.Resource
	case kind == "command":
		return verb.FindString(e.Command.Run)
	default:
		return kind
	}
}

// verb is what a command line begins with: "calicoctl ipam release".
var verb = regexp.MustCompile(`^[a-z]+( [a-z]+)*`)

var (
	workloads         = []string{"DaemonSet", "Deployment", "Job", "Pod", "StatefulSet"}
	workloadResources = []string{"daemonsets.apps", "deployments.apps", "jobs.batch", "pods", "statefulsets.apps"}
)

// fingerprint is 12 hexadecimal digits of a shape.
func fingerprint(shape []string) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q", shape)))[:12]
}
