package baseline

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"ipamsim/model/invariant"
	"ipamsim/reports"
	"ipamsim/reports/sarifs"
)

// SARIF writes an outcome as a SARIF 2.1.0 log with one run: a result a change, in
// the order of the rows, at the line of the scenario's file with the expectation; a rule for
// each kind of change, sorted.
//
// A regression is an error, another change a note. A fixed violation is no alert: its result
// has kind "pass" and baselineState "absent". The fingerprint of a result is derived from the
// scenario, the rule and the subject, so it is stable across days, seeds and other changes of
// the file.
//
// A violation with a known cause also has a code flow: the lines of the address manager's code
// that read, changed and wrote, in the order of the steps, each below the base
// "module@version".
//
// Source: OASIS, Static Analysis Results Interchange Format (SARIF) 2.1.0.
func SARIF(w io.Writer, o *Outcome) error {
	rules := rulesOf(o)
	run := sarifs.NewRun("ipamsim gate", "ipamsim-gate/", rules)
	run.OriginalUriBaseIds = modulesOf(o)
	run.OriginalUriBaseIds[sarifs.SrcRoot] = sarif.ArtifactLocation{Index: -1, Description: sarif.NewTextMessage("the root of the repository")}
	done := true
	seen := map[string]int{}
	for i := range o.Rows {
		r := &o.Rows[i]
		for j := range r.Changes {
			c := &r.Changes[j]
			done = done && c.Kind.proves()
			run.AddResult(result(r, c, rules, seen))
		}
	}
	run.AddInvocation(sarif.NewInvocation().WithExecutionSuccessful(done))
	versions := []map[string]string{}
	for _, v := range o.Versions {
		versions = append(versions, map[string]string{"manager": reports.Clean(v.Manager), "before": reports.Clean(v.Before), "now": reports.Clean(v.Now)})
	}
	run.WithProperties(sarif.NewPropertyBag().Add("verdict", o.Verdict()).Add("versions", versions).Add("repeated", o.Repeated))
	return sarifs.Write(w, run)
}

// ruleID returns the rule of a change: the invariant, or else the kind and the subject, so that
// two costs of one scenario are two alerts.
func (c *Change) ruleID() string {
	id := string(c.Kind)
	switch {
	case c.Kind == NewViolation || c.Kind == FixedViolation || c.Kind == ChangedViolation:
		id = c.What
	case c.What != "":
		id += "/" + c.What
	}
	return strings.ReplaceAll(reports.Clean(cmp.Or(id, "change")), " ", "-")
}

// rulesOf returns the rules of an outcome's results, sorted by ID.
func rulesOf(o *Outcome) []*sarif.ReportingDescriptor {
	rules := []*sarif.ReportingDescriptor{} // null is not allowed
	for i := range o.Rows {
		for j := range o.Rows[i].Changes {
			c := &o.Rows[i].Changes[j]
			id := c.ruleID()
			if slices.ContainsFunc(rules, func(r *sarif.ReportingDescriptor) bool { return *r.ID == id }) {
				continue
			}
			short, help := meaning(c)
			rules = append(rules, sarif.NewRule(id).
				WithShortDescription(sarif.NewMultiformatMessageString().WithText(short)).
				WithFullDescription(sarif.NewMultiformatMessageString().WithText(short)).
				WithHelp(sarif.NewMultiformatMessageString().WithText(help).WithMarkdown(help)))
		}
	}
	sarifs.Sort(rules)
	return rules
}

// meaning returns the description of a rule, and what to do. Of the scenario it contains only
// the name of the subject.
func meaning(c *Change) (short, help string) {
	switch c.Kind {
	case NewViolation, FixedViolation, ChangedViolation:
		short = "An invariant is violated that is not violated in the baseline."
		for _, i := range invariant.All() {
			if i.Name == c.What {
				short = i.Doc
			}
		}
		return short, "The address manager violates this invariant and did not in the baseline. The command of the result reproduces the run with its timeline. If the new behaviour is intended, rewrite the baseline with: ipamsim gate --update"
	case VanishedViolation:
		return "A violation of the baseline no longer occurs with the same address manager.", "The simulator or the scenario changed and detects less than before. This is not a fix."
	case Nondeterminism:
		return "Two runs of the same seed differ.", "A run must be a function of its scenario and seed. Run it with --verify to get the first step that differs."
	case CostMoved:
		return "A deterministic cost is beyond its tolerance.", "API calls, conflicts and virtual latency do not depend on the machine. If the new cost is right, rewrite the baseline with: ipamsim gate --update"
	case NewScenario:
		return "The scenario is not in the baseline.", "Add it with: ipamsim gate --update"
	case MissingScenario:
		return "A scenario of the baseline has no file.", "Restore the file, or remove the scenario from the baseline with: ipamsim gate --update"
	case NotReproduced:
		return "A stored finding can no longer be replayed.", "Its schedule contains a choice that no longer occurs. If the address manager changed, search again. Otherwise the simulator changed."
	case Unfinished:
		return "A limit ended a run that finished in the baseline.", "The run needs more steps or time than before. The verdict is unknown, which is not a pass. The command of the result shows how the run ends."
	case LeftOut:
		return "A scenario was skipped for lack of time.", "The gate's budget ran out (--budget). A skipped scenario has no verdict: increase the budget, or select fewer scenarios."
	case CannotRun:
		return "A scenario could not be run.", "The simulator or its environment failed, not the address manager. The result contains the error."
	}
	return "A result differs from the baseline.", "Run the command of the result."
}

func result(r *Row, c *Change, rules []*sarif.ReportingDescriptor, seen map[string]int) *sarif.Result {
	id := c.ruleID()
	text := reports.Clean(c.Sentence)
	for _, more := range []string{c.moved(), reports.Clean(c.Command)} {
		if more != "" {
			text = strings.TrimPrefix(text+"\n"+more, "\n")
		}
	}
	if text == "" {
		text = c.Words()
	}
	key := strings.Join([]string{r.Scenario, string(c.Kind), id}, "\x00")
	seen[key]++
	res := sarifs.Result(rules, id, reports.Clean(r.Scenario)+": "+text, fmt.Sprintf("%s\x00%d", key, seen[key])).WithLevel("note").WithBaselineState("updated")
	switch {
	case c.Regression:
		res.WithLevel("error").WithBaselineState("new")
	case c.Kind == FixedViolation:
		res.WithKind("pass").WithLevel("none").WithBaselineState("absent")
	case c.Kind == NewScenario:
		res.WithBaselineState("new")
	}
	res.AddLocation(location(r, c))
	if f := flow(c.Calls); f != nil {
		res.AddCodeFlow(f)
	}
	bag := sarif.NewPropertyBag().Add("kind", string(c.Kind)).Add("severity", string(c.Severity)).Add("step", c.Step).Add("timeline", cleanLines(c.Timeline))
	if c.Found != nil {
		bag.Add("found", c.Found)
	}
	return res.WithProperties(bag)
}

func location(r *Row, c *Change) *sarif.Location {
	file, line := r.placeOf(c)
	l := sarif.NewLocation()
	l.AddLogicalLocation(sarif.NewLogicalLocation().WithName(reports.Clean(r.Scenario)).WithKind("module"))
	if file == "" {
		return l
	}
	return l.WithPhysicalLocation(sarifs.Physical(file, sarifs.SrcRoot, line))
}
