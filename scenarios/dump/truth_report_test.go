package dump_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ipamsim/model"
	"ipamsim/reports/golden"
	"ipamsim/reports/imported"
	"ipamsim/reports/layout"
	"ipamsim/scenarios/scenariotest"
)

// TestDumpsReport: reports/DUMPS.md is the table of all dumps of testdata/truth: what is
// wrong in each, what the importer diagnoses, and the result of its remedies.
func TestDumpsReport(t *testing.T) {
	r := scenariotest.Runner(t)
	var b strings.Builder
	b.WriteString(dumpsHead)
	right := 0
	names := truths(t)
	for _, name := range names {
		x := truthOf(t, name)
		is := importDump(t, r, name, x.Files)
		wrong := x.compare(is)
		remedy := "–"
		if is.err == nil {
			a := actOut(r, x, is)
			remedy = x.remedyCell(a)
			if !a.passes() {
				wrong = append(wrong, "simulated")
			}
		}
		diagnosed := x.diagnosedCell(is)
		if len(wrong) == 0 {
			right++
		} else {
			diagnosed += fmt.Sprintf(" **%s wrong**", layout.Plural(len(wrong), "thing"))
		}
		fmt.Fprintf(&b, "| [%s](../scenarios/dump/testdata/truth/%s) | %s | %s | %s | %s |\n", name, name, cell(x.format()), cell(x.Wrong), diagnosed, remedy)
	}
	fmt.Fprintf(&b, dumpsFoot, right, len(names))
	golden.Check(t, "../../reports/DUMPS.md", b.String())
}

const dumpsHead = `# Dumps with a known truth

What ` + "`ipamsim import`" + ` diagnoses in dumps with a known truth, and whether its commands repair the cluster. The dumps are written by hand, as kubectl and
calicoctl print them; what is wrong in each was written down before the importer read any.

- Command: ` + "`go test ./scenarios/dump -run TestDumpsReport`" + `; with ` + "`-update`" + ` it writes this page. Each run of the test reads all dumps again.
- *Diagnosed* is compared with the truth by invariant, code and objects. "Missing" lists the resources without which not all can be judged.
- *Remedy, simulated*: all commands that the importer prints are executed, line by line, in a run of the real code that begins with that cluster;
  then the cluster is dumped and imported again. "Passes": the findings are gone, and no finding is new.

| dump | format | what is wrong | diagnosed | remedy, simulated |
|---|---|---|---|---|
`

const dumpsFoot = `
%d of %d dumps are read right.

## What the figures do not show

- Dumps of real clusters: all are written by hand, of small clusters.
- Remedies for podCIDRs, Services and Calico's LoadBalancer addresses: the importer prints commands that read, and none that write.
`

// format is the versions and how the dump was made.
func (x *truth) format() string {
	var out []string
	if x.Calico != "" {
		where := "custom resources"
		if x.Datastore == "etcdv3" {
			where = "etcdv3"
		}
		out = append(out, "Calico "+strings.TrimPrefix(x.Calico, "v")+" ("+where+")")
	}
	if x.Whereabouts != "" {
		out = append(out, "Whereabouts "+strings.TrimPrefix(x.Whereabouts, "v"))
	}
	if x.Kubernetes != "" {
		out = append(out, "Kubernetes "+strings.TrimPrefix(x.Kubernetes, "v"))
	}
	return strings.Join(out, ", ") + ": " + strings.Join(x.Files, ", ")
}

// diagnosedCell is the importer's findings, counted, and the resources that it lacks.
func (x *truth) diagnosedCell(is answer) string {
	if is.err != nil {
		return "refused: " + cell(is.err.Error())
	}
	n := map[string]int{}
	var kinds []string
	for i := range is.findings.All {
		f := &is.findings.All[i]
		kind := strings.TrimSpace(f.Invariant + " " + f.Code)
		if n[kind]++; n[kind] == 1 {
			kinds = append(kinds, kind)
		}
	}
	out := "no findings"
	if is.findings.Verdict(model.Minor) == imported.Undecided {
		out = "no findings in what can be judged"
	}
	if len(kinds) > 0 {
		for i, k := range kinds {
			kinds[i] = fmt.Sprintf("%d %s", n[k], k)
		}
		out = strings.Join(kinds, ", ")
	}
	var without []string
	for _, u := range is.report.Unjudged {
		without = append(without, u.Without...)
	}
	if slices.Sort(without); len(without) > 0 {
		out += "; missing: " + strings.Join(slices.Compact(without), ", ")
	}
	return cell(out)
}

// remedyCell is the correct remedy, and the result of the printed commands.
func (x *truth) remedyCell(a *acted) string {
	var right []string
	for i := range x.Findings {
		s := (&remedyText{&x.Findings[i].Remedy}).String()
		if s == "none" {
			s = "none is safe"
		}
		if !slices.Contains(right, s) {
			right = append(right, s)
		}
	}
	if len(right) == 0 {
		return "–"
	}
	return cell(strings.Join(right, "; ")) + ": " + cell(a.String())
}

// cell is text in a cell of a table.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}
