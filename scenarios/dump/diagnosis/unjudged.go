package diagnosis

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports"
	"ipamsim/reports/imported"
	"ipamsim/reports/layout"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/collect"
	"ipamsim/scenarios/remedy"
)

// Verdict judges the cluster by findings of at least the severity.
func (f *Findings) Verdict(least model.Severity) imported.Verdict {
	switch {
	case slices.ContainsFunc(f.All, func(x Finding) bool { return asSevere(x.Severity, least) }):
		return imported.Wrong
	case f.Unsure(least):
		return imported.Undecided
	}
	return imported.Healthy
}

// Unsure reports whether an invariant of at least the severity cannot be judged.
func (f *Findings) Unsure(least model.Severity) bool {
	return slices.ContainsFunc(f.Unjudged, func(u scenarios.Unjudged) bool {
		return slices.ContainsFunc(u.What, func(name string) bool { return asSevere(severityOf(name), least) })
	})
}

func asSevere(s, least model.Severity) bool {
	return s.Rank() <= least.Rank()
}

// severityOf returns the severity of an invariant; minor for any other name.
func severityOf(name string) model.Severity {
	inv, _ := invariant.Named(name)
	return cmp.Or(inv.Severity, model.Minor)
}

// doubtful reports whether an invariant cannot be judged in the whole cluster.
func doubtful(all []scenarios.Unjudged, name string) bool {
	return slices.ContainsFunc(all, func(u scenarios.Unjudged) bool {
		return !u.Incomplete && len(u.Namespaces)+len(u.Pools) == 0 && slices.Contains(u.What, name)
	})
}

// writeUnjudged prints the findings that rest on assumptions, what cannot be judged, and the
// commands that collect what is missing.
func (f *Findings) writeUnjudged(w io.Writer) {
	for i, x := range f.Supposed {
		if shown := f.Style.shown(len(f.Supposed)); i == shown {
			fmt.Fprintf(w, "possible: %d more; --all lists them\n", len(f.Supposed)-shown)
			break
		}
		fmt.Fprintf(w, "possible: %s (%s): %s\n", x.Invariant, x.Severity, reports.Clean(x.Message))
	}
	f.writeAbsent(w)
	lacking := map[string]bool{}
	for _, u := range f.Unjudged {
		fmt.Fprintf(w, "%s\n", reports.Clean(u.String()))
		for _, name := range u.Without {
			if r := f.cluster.Resource(name); r != nil && r.By == dump.Kubectl {
				lacking[name] = true
			}
		}
	}
	for _, line := range f.more(slices.Sorted(maps.Keys(lacking))) {
		fmt.Fprintf(w, "       collect with: %s\n", line)
	}
}

// writeAbsent prints the pods that are not in the dump: their claims are leaked if they do not
// exist, which the dump does not show.
func (f *Findings) writeAbsent(w io.Writer) {
	all := slices.DeleteFunc(slices.Clone(f.cluster.Missing()), func(a dump.Absent) bool { return !a.Claimed })
	for i, a := range all {
		if shown := f.Style.shown(len(all)); i == shown {
			fmt.Fprintf(w, "possible: %s; --all lists them\n", layout.Count(len(all)-shown, "more pod that is not in the dump", "more pods that are not in the dump"))
			break
		}
		is, named := "is", ""
		if len(a.Addrs) > 1 {
			is = "are"
		}
		if a.Named {
			named = ", though another object of the dump names it"
		}
		p := PodRef(a.Pod)
		fmt.Fprintf(w, "possible: %s (%s): %s %s claimed for %s, which is not in the dump%s\n", invariant.LeakedClaim.Name, invariant.LeakedClaim.Severity, remedy.Some(a.Addrs), is, reports.Clean(a.Pod), named)
		fmt.Fprintf(w, "       check: kubectl get pod -n %s %s: \"NotFound\" confirms the finding\n", reports.Shell(p.Namespace), reports.Shell(p.Name))
	}
}

// more returns the commands that write resources to files. The manager's own tool shows what
// kubectl cannot.
func (f *Findings) more(names []string) []string {
	var out, kube []string
	for _, name := range names {
		if line := f.cluster.Show(f.cluster.Resource(name)); line != "" {
			out = append(out, line)
		} else {
			kube = append(kube, name)
		}
	}
	if len(kube) > 0 {
		out = append(out, collect.Command(f.cluster.Managers(), "more.yaml", kube...))
	}
	return slices.Compact(out)
}
