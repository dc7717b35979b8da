package importing

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/imported"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/plan"
	"ipamsim/sim/ipam"
)

// print says what was read, what is wrong, what is not known, and what comes next.
func (f *importFlags) print(stderr io.Writer, s *scenarios.Scenario, report *dump.Report, findings *diagnosis.Findings, r *imported.Result) error {
	b := bufio.NewWriter(stderr)
	tellRead(b, report)
	findings.Style = diagnosis.Style{All: f.all, Paint: painter(stderr), Places: func(refs []model.Ref) (out []string) {
		for _, p := range report.Places(refs) {
			out = append(out, p.Object+" ("+p.Origin.String()+")")
		}
		return out
	}}
	if r.Since != nil {
		fmt.Fprintf(b, "new since %s: %s\n", reports.Clean(f.outputs.since), r.Since.Text())
		findings.Style.New = r.News()
	} else if f.outputs.since != "" {
		fmt.Fprintf(b, "new since %s: nothing to compare with yet, this is the first result\n", reports.Clean(f.outputs.since))
	}
	findings.Write(b)
	tellVersions(b, f.managers, report)
	tellUnknown(b, report)
	if !f.outputs.toStdout() || f.out != "" {
		f.tellNext(b, s, len(findings.All) > 0)
	}
	return b.Flush()
}

// printsList are the commands whose output is read, a line each.
func printsList(managers scenarios.Managers) string {
	lines := []string{"kubectl get -o yaml", "kubectl get -o json"}
	for _, m := range dump.New(managers).Managers() {
		i, _ := ipam.Part[*dump.Importer](m)
		lines = append(lines, i.Prints...)
	}
	return "  " + strings.Join(lines, "\n  ") + "\n"
}

// resourceList are the full names of what is read, a line each.
func resourceList(managers scenarios.Managers) string {
	var b strings.Builder
	for _, r := range dump.Resources(managers) {
		if r.By == dump.Kubectl {
			fmt.Fprintf(&b, "  %s\n", r.Name())
		}
	}
	return b.String()
}

// tellRead says what was read.
func tellRead(w io.Writer, r *dump.Report) {
	var managers []string
	for _, m := range r.Managers {
		if m.Datastore != "" {
			m.Title += " (" + m.Datastore + ")"
		}
		managers = append(managers, m.Title)
	}
	fmt.Fprintf(w, "ipamsim: %s: %d nodes, %d pods, %d addresses in use\n", strings.Join(managers, " and "), r.Nodes, r.Pods, r.Claims)
}

// tellVersions says which versions the cluster runs of what is simulated, and what these
// do otherwise.
func tellVersions(w io.Writer, managers scenarios.Managers, r *dump.Report) {
	for _, v := range r.Versions {
		differ, newer := diagnosis.Differences(managers, v)
		switch {
		case newer:
			fmt.Fprintf(w, "version: %s; what has changed since is not listed here\n", reports.Clean(v.Beside(managers)))
		case len(differ) > 0:
			fmt.Fprintf(w, "version: %s. Before these releases, or a patch of an older line:\n", reports.Clean(v.Beside(managers)))
		}
		for _, d := range differ {
			fmt.Fprintf(w, "       %s: %s (%s)\n", d.Since, d.Before, d.Source)
		}
	}
}

// tellUnknown says what could not be known, and what was left out.
func tellUnknown(w io.Writer, r *dump.Report) {
	for _, s := range r.Unknown {
		fmt.Fprintf(w, "not known: %s\n", reports.Clean(s))
	}
	for _, s := range r.Left {
		fmt.Fprintf(w, "left out: %s\n", reports.Clean(s))
	}
}

// tellNext says what can be done with the scenario, and what it expects.
func (f *importFlags) tellNext(w io.Writer, s *scenarios.Scenario, wrong bool) {
	name := "FILE"
	if f.out != "" {
		name = reports.Shell(f.out)
	}
	note := ""
	if wrong {
		note = ", which expects what is wrong already, object by object, and nothing else"
	}
	fmt.Fprintf(w, "next: ipamsim run %s%s\n", name, note)
	i, ok := ipam.Part[*dump.Importer](s.Manager())
	podless := ok && i.Apart // a dump says too little of it for a plan
	if _, planned := ipam.Part[plan.Manager](s.Manager()); planned && !podless {
		fmt.Fprintf(w, "next: ipamsim plan PLAN, with from: %s in it, says how long the addresses will last and what would help (copy one of scenarios/plans)\n", name)
	}
}
