package importing

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/imported"
	"ipamsim/reports/layout"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/plan"
	"ipamsim/sim/ipam"
)

// print prints what was read, the findings, what is unknown, and the next commands.
func (f *importFlags) print(stderr io.Writer, s *scenarios.Scenario, report *dump.Report, findings *diagnosis.Findings, r *imported.Result) error {
	b := bufio.NewWriter(stderr)
	printRead(b, report)
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
		fmt.Fprintf(b, "new since %s: this is the first result, there is nothing to compare with\n", reports.Clean(f.outputs.since))
	}
	findings.Write(b)
	printVersions(b, f.managers, report)
	printUnknown(b, report)
	if f.out != os.DevNull && (!f.outputs.toStdout() || f.out != "") {
		f.printNext(b, s, len(findings.All) > 0)
	}
	return b.Flush()
}

// printsList returns the commands whose output is read, a line each.
func printsList(managers scenarios.Managers) string {
	lines := []string{"kubectl get -o yaml", "kubectl get -o json"}
	for _, m := range dump.New(managers).Managers() {
		i, _ := ipam.Part[*dump.Importer](m)
		lines = append(lines, i.Prints...)
	}
	return "  " + strings.Join(lines, "\n  ") + "\n"
}

// resourceList returns the full names of the resources that are read, a line each, with the
// names of the objects if only some are read.
func resourceList(managers scenarios.Managers) string {
	var names []string
	only := map[string][]string{}
	for _, r := range dump.Resources(managers) {
		if r.By != dump.Kubectl {
			continue
		}
		if !slices.Contains(names, r.Name()) {
			names = append(names, r.Name())
		}
		if r.Only != "" {
			only[r.Name()] = append(only[r.Name()], r.Namespace+"/"+r.Only)
			slices.Sort(only[r.Name()])
		}
	}
	for i, name := range names {
		if len(only[name]) > 0 {
			names[i] += ": only " + strings.Join(only[name], ", ")
		}
	}
	return "  " + strings.Join(names, "\n  ") + "\n"
}

// printRead prints what was read.
func printRead(w io.Writer, r *dump.Report) {
	var managers []string
	for _, m := range r.Managers {
		if m.Bare {
			m.Title = "no address manager"
		}
		if m.Datastore != "" {
			m.Title += " (" + m.Datastore + ")"
		}
		managers = append(managers, m.Title)
	}
	fmt.Fprintf(w, "ipamsim: %s: %s, %s, %s\n", strings.Join(managers, " and "), layout.Plural(r.Nodes, "node"), layout.Plural(r.Pods, "pod"), layout.Count(r.Claims, "address in use", "addresses in use"))
}

// printVersions prints the cluster's versions of managers, and how they differ from the
// simulated ones.
func printVersions(w io.Writer, managers scenarios.Managers, r *dump.Report) {
	for _, v := range r.Versions {
		differ, newer := diagnosis.Differences(managers, v)
		switch {
		case newer:
			fmt.Fprintf(w, "version: %s; later changes are not listed here\n", reports.Clean(v.Beside(managers)))
		case len(differ) > 0:
			fmt.Fprintf(w, "version: %s. Behaviour before these releases (or a patch of an older line):\n", reports.Clean(v.Beside(managers)))
		}
		for _, d := range differ {
			fmt.Fprintf(w, "       %s: %s (%s)\n", d.Since, d.Before, d.Source)
		}
	}
}

// printUnknown prints what is unknown, and what was skipped.
func printUnknown(w io.Writer, r *dump.Report) {
	for _, s := range r.Unknown {
		fmt.Fprintf(w, "unknown: %s\n", reports.Clean(s))
	}
	for _, s := range r.Left {
		fmt.Fprintf(w, "skipped: %s\n", reports.Clean(s))
	}
}

// printNext prints the next commands for the scenario.
func (f *importFlags) printNext(w io.Writer, s *scenarios.Scenario, wrong bool) {
	name := "FILE"
	if f.out != "" {
		name = reports.Shell(f.out)
	}
	note := ""
	if wrong {
		note = " (expects exactly these findings)"
	}
	fmt.Fprintf(w, "next: ipamsim run %s%s\n", name, note)
	i, ok := ipam.Part[*dump.Importer](s.Manager())
	podless := ok && i.Apart // a dump has too few data of it for a plan
	if _, planned := ipam.Part[plan.Manager](s.Manager()); planned && !podless {
		fmt.Fprintf(w, "next: ipamsim plan PLAN, a plan of the library (ipamsim scenarios list plans/) with \"from: %s\": how long the addresses last, and which change helps\n", name)
	}
}
