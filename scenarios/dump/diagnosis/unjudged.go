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

// Verdict is what the look at the cluster comes to, as to what is at least so severe.
func (f *Findings) Verdict(least model.Severity) imported.Verdict {
	switch {
	case slices.ContainsFunc(f.All, func(x Finding) bool { return asSevere(x.Severity, least) }):
		return imported.Wrong
	case f.Unsure(least):
		return imported.Undecided
	}
	return imported.Healthy
}

// Unsure reports whether anything that is at least so severe cannot be judged.
func (f *Findings) Unsure(least model.Severity) bool {
	return slices.ContainsFunc(f.Unjudged, func(u scenarios.Unjudged) bool {
		return slices.ContainsFunc(u.What, func(name string) bool { return asSevere(severityOf(name), least) })
	})
}

func asSevere(s, least model.Severity) bool {
	return s.Rank() <= least.Rank()
}

// severityOf is that of an invariant; of what is none, the least.
func severityOf(name string) model.Severity {
	inv, _ := invariant.Named(name)
	return cmp.Or(inv.Severity, model.Minor)
}

// doubtful reports whether an invariant cannot be judged in all of the cluster.
func doubtful(all []scenarios.Unjudged, name string) bool {
	return slices.ContainsFunc(all, func(u scenarios.Unjudged) bool {
		return !u.Incomplete && len(u.Namespaces)+len(u.Pools) == 0 && slices.Contains(u.What, name)
	})
}

// writeUnjudged tells what cannot be judged, what would be wrong if what is assumed
// instead were so, and how the dump would say more.
func (f *Findings) writeUnjudged(w io.Writer) {
	for i, x := range f.Supposed {
		if shown := f.Style.shown(len(f.Supposed)); i == shown {
			fmt.Fprintf(w, "perhaps: %d more; --all lists them\n", len(f.Supposed)-shown)
			break
		}
		fmt.Fprintf(w, "perhaps: %s (%s): %s\n", x.Invariant, x.Severity, reports.Clean(x.Message))
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
		fmt.Fprintf(w, "       add what this writes: %s\n", line)
	}
}

// writeAbsent reports the pods that are not in the dump: what is claimed for them leaked if they
// do not exist, and nothing in the dump shows that.
func (f *Findings) writeAbsent(w io.Writer) {
	all := slices.DeleteFunc(slices.Clone(f.cluster.Missing()), func(a dump.Absent) bool { return !a.Claimed })
	for i, a := range all {
		if shown := f.Style.shown(len(all)); i == shown {
			fmt.Fprintf(w, "perhaps: %s; --all lists them\n", layout.Count(len(all)-shown, "more pod that is not in the dump", "more pods that are not in the dump"))
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
		fmt.Fprintf(w, "perhaps: %s (%s): %s %s claimed for %s, which is not in the dump%s\n", invariant.LeakedClaim.Name, invariant.LeakedClaim.Severity, remedy.Some(a.Addrs), is, reports.Clean(a.Pod), named)
		fmt.Fprintf(w, "       check: kubectl get pod -n %s %s says NotFound if it is so\n", reports.Shell(p.Namespace), reports.Shell(p.Name))
	}
}

// more are the command lines that write resources to files. What kubectl does not reach is
// shown by the manager's own tool.
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
