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

// SARIF writes a result as a SARIF 2.1.0 log with one run: a result for each finding, in order,
// at the place of its objects in the dump; a rule for each violated invariant, sorted.
//
// Critical findings are errors, major ones warnings, minor ones notes. With an earlier result, a
// finding is new or unchanged, and one no longer found is of kind "notApplicable" and absent: it
// may not have been fixed. The fingerprint is derived from invariant, code and objects, so it is
// stable.
//
// Source: OASIS, Static Analysis Results Interchange Format (SARIF) 2.1.0.
func SARIF(w io.Writer, r *Result) error {
	rules := rulesOf(r)
	run := sarifs.NewRun("ipamsim import", "ipamsim-import/"+reports.Clean(r.Name)+"/", rules)
	run.OriginalUriBaseIds = map[string]sarif.ArtifactLocation{sarifs.SrcRoot: {Index: -1, Description: sarif.NewTextMessage("the directory in which ipamsim import ran")}}
	run.WithResults([]*sarif.Result{}) // null means that nothing was analysed
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

// rulesOf returns a rule for each invariant of a result, sorted.
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
			doc = "No pod or node waits because no address or range is free."
		}
		rules = append(rules, sarif.NewRule(reports.Clean(name)).
			WithShortDescription(sarif.NewMultiformatMessageString().WithText(doc)).
			WithFullDescription(sarif.NewMultiformatMessageString().WithText(doc)))
	}
	sarifs.Sort(rules)
	return rules
}

// about returns a result without a baseline state.
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

// location returns the place of an object: in a file, or its name on an API server.
func location(p Place) *sarif.Location {
	l := sarif.NewLocation()
	l.AddLogicalLocation(sarif.NewLogicalLocation().WithFullyQualifiedName(reports.Clean(p.Object)).WithKind("object"))
	if p.Line == 0 {
		return l
	}
	return l.WithPhysicalLocation(sarifs.Physical(p.File, sarifs.SrcRoot, p.Line))
}

// subject names an invariant and its objects.
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
