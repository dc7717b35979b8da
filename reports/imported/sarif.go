package imported

import (
	"io"
	"slices"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports"
	"ipamsim/reports/sarifs"
)

// SARIF writes a result as a SARIF 2.1.0 log with one run: a result a finding, in their
// order, where in the dump the objects stand that it is about; a rule for each invariant
// that is broken, sorted.
//
// What is critical is an error, what is major a warning, what is minor a note. Where an
// earlier result is known, a finding is new or unchanged, and one that is no longer
// found is of kind "notApplicable" and absent: nobody says that it was mended. The
// fingerprint is made of invariant, code and objects, so that it is the same tomorrow.
//
// Source: OASIS, Static Analysis Results Interchange Format (SARIF) 2.1.0.
func SARIF(w io.Writer, r *Result) error {
	rules := rulesOf(r)
	run := sarifs.NewRun("ipamsim import", "ipamsim-import/"+reports.Clean(r.Name)+"/", rules)
	run.OriginalUriBaseIds = map[string]sarif.ArtifactLocation{sarifs.SrcRoot: {Index: -1, Description: sarif.NewTextMessage("the directory in which ipamsim import ran")}}
	run.WithResults([]*sarif.Result{}) // null would say that nothing was looked at
	for i := range r.Findings {
		run.AddResult(found(r, &r.Findings[i], rules))
	}
	if r.Since != nil {
		for _, g := range r.Since.Gone {
			text := "no longer found: "
			if g.Unjudged {
				text = "cannot be judged this time: "
			}
			res := about(g.Identity, rules, text+subject(g.Identity))
			run.AddResult(res.WithKind("notApplicable").WithLevel("none").WithBaselineState("absent"))
		}
	}
	run.AddInvocation(sarif.NewInvocation().WithExecutionSuccessful(r.Verdict != Undecided))
	run.WithProperties(sarif.NewPropertyBag().Add("verdict", string(r.Verdict)).Add("unjudged", r.Unjudged).Add("unknown", clean(r.Unknown)).Add("left", clean(r.Left)))
	return sarifs.Write(w, run)
}

// rulesOf are the invariants that a result names, sorted.
func rulesOf(r *Result) []*sarif.ReportingDescriptor {
	names := map[string]bool{}
	for i := range r.Findings {
		names[r.Findings[i].Invariant] = true
	}
	if r.Since != nil {
		for _, g := range r.Since.Gone {
			names[g.Invariant] = true
		}
	}
	rules := []*sarif.ReportingDescriptor{} // null is not allowed
	for name := range names {
		doc := "An invariant of an earlier version of ipamsim."
		if inv, ok := invariant.Named(name); ok {
			doc = inv.Doc
		} else if name == Exhausted {
			doc = "Nothing waits for an address, or a range of addresses, where none is left."
		}
		rules = append(rules, sarif.NewRule(reports.Clean(name)).
			WithShortDescription(sarif.NewMultiformatMessageString().WithText(doc)).
			WithFullDescription(sarif.NewMultiformatMessageString().WithText(doc)))
	}
	sarifs.Sort(rules)
	return rules
}

// about is a result without a state.
func about(id model.Identity, rules []*sarif.ReportingDescriptor, text string) *sarif.Result {
	return sarifs.Result(rules, reports.Clean(id.Invariant), text, id.String())
}

func found(r *Result, f *Finding, rules []*sarif.ReportingDescriptor) *sarif.Result {
	text := reports.Clean(f.Message)
	if f.Remedy != nil {
		for _, line := range slices.Concat([]string{f.Remedy.Check}, f.Remedy.Commands()) {
			if line != "" {
				text += "\n" + reports.Clean(line)
			}
		}
	}
	res := about(f.Identity, rules, text).WithLevel(map[model.Severity]string{model.Critical: "error", model.Major: "warning", model.Minor: "note"}[f.Severity])
	if r.Since != nil {
		res.WithBaselineState(map[bool]string{true: "new", false: "unchanged"}[f.New])
	}
	for _, p := range f.Places {
		res.AddLocation(location(p))
	}
	return res.WithProperties(sarif.NewPropertyBag().Add("severity", string(f.Severity)).Add("code", f.Code).Add("objects", texts(f.Objects)))
}

// location is where an object was read: in a file, or of an API server only its name.
func location(p Place) *sarif.Location {
	l := sarif.NewLocation()
	l.AddLogicalLocation(sarif.NewLogicalLocation().WithFullyQualifiedName(reports.Clean(p.Object)).WithKind("object"))
	if p.Line == 0 {
		return l
	}
	return l.WithPhysicalLocation(sarifs.Physical(p.File, sarifs.SrcRoot, p.Line))
}

// subject names an invariant and what it is broken about.
func subject(id model.Identity) string {
	return reports.Clean(id.Invariant + " " + strings.Join(texts(id.Objects), ", "))
}

func texts(objects []model.Ref) []string {
	out := make([]string, len(objects))
	for i, o := range objects {
		out[i] = reports.Clean(o.String())
	}
	return out
}

func clean(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = reports.Clean(l)
	}
	return out
}
