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
// the order of the rows, at the line of the scenario's file that says what is
// expected; a rule for each thing that can change, sorted.
//
// What got worse is an error, what moved otherwise a note. What was fixed is no
// alert: its result is of kind "pass" and its baselineState is "absent". The
// fingerprint of a result is made of the scenario, the rule and what it is about, so
// that it is the same tomorrow, at other seeds and after other changes of the file.
//
// A violation whose cause is known has a code flow besides: the lines of the address
// manager's own code that read, changed and wrote, in the order of the steps, each below
// the base "module@version".
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

// ruleID names what a change is a case of: an invariant by its own name, anything
// else by its kind and what it is about, so that two costs of one scenario stay two
// alerts.
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

// rulesOf are the rules that an outcome has results of, sorted by ID.
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

// meaning says what a rule is about, and what to do about it. Nothing of the
// scenario is in it but the name of what changed.
func meaning(c *Change) (short, help string) {
	switch c.Kind {
	case NewViolation, FixedViolation, ChangedViolation:
		short = "An invariant breaks that does not break in the baseline."
		for _, i := range invariant.All() {
			if i.Name == c.What {
				short = i.Doc
			}
		}
		return short, "The address manager breaks this invariant where the baseline does not. Run the command of the result: it shows the same run with its timeline. If this is how it shall be from now on, rewrite the baseline with: ipamsim gate --update"
	case VanishedViolation:
		return "A violation of the baseline no longer shows, and the address manager is the same.", "The simulator sees less than before: a defect of the simulator or of the scenario, not a repair."
	case Nondeterminism:
		return "The same run twice was not the same.", "A run must be a function of its scenario and seed. Run it with --verify, which names the first step that differs."
	case CostMoved:
		return "A deterministic cost is beyond its tolerance.", "API calls, conflicts and virtual latency do not depend on the machine. If the new cost is right, rewrite the baseline with: ipamsim gate --update"
	case NewScenario:
		return "The baseline does not know this scenario.", "Take it up with: ipamsim gate --update"
	case MissingScenario:
		return "The baseline knows a scenario that is not there.", "Bring the file back, or strike it from the baseline with: ipamsim gate --update"
	case NotReproduced:
		return "A stored finding can no longer be followed.", "Its schedule names a choice that does not come up any more. If the address manager changed, search for the finding anew; else a change of the simulator lost it."
	case Unfinished:
		return "A limit cut a run short that ended in the baseline.", "It takes more steps, or more time, than it did: the verdict is unknown, which is not a pass. Look at its end with the command of the result."
	case LeftOut:
		return "There was no time to judge a scenario.", "The gate's time was up (--budget). What is left out is not healthy: give it more time, or name fewer scenarios."
	case CannotRun:
		return "A scenario could not be run.", "The simulator or its environment failed, not the address manager. The result says how."
	}
	return "Something is not as in the baseline.", "Run the command of the result."
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
