package diagnosis

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/layout"
)

// entry is what Write prints at once: findings of one invariant with one cause. The first of
// them is printed in full.
type entry []*Finding

// cause is what the findings of an entry have in common.
type cause struct {
	code     string
	severity model.Severity
	remedy   any // what fixes them
	news     bool
}

// entries are findings of one invariant by their causes, in the order of the first of each; with
// Style.All each finding is an entry.
func (f *Findings) entries(all []Finding) []entry {
	var out []entry
	at := map[cause]int{}
	for i := range all {
		x := &all[i]
		c := cause{x.Code, x.Severity, f.remedy(x), f.Style.New != nil && f.Style.New(x.Identity())}
		k, there := at[c]
		if !there || f.Style.All {
			at[c] = len(out)
			out = append(out, entry{x})
			continue
		}
		out[k] = append(out[k], x)
	}
	return out
}

// remedy is what fixes a finding, as something to compare. Where nothing is known of that, findings
// that are less than critical have one cause if they are broken in the same way; a critical
// one is its own.
func (f *Findings) remedy(x *Finding) any {
	switch {
	case x.Problem > 0 && x.Problem <= len(f.Results) && f.Results[x.Problem-1].With != nil:
		return f.Results[x.Problem-1].With
	case x.Problem > 0:
		return x.Problem
	case x.Severity == model.Critical:
		return x
	}
	return nil
}

// count is how often the cause broke the invariant, for the line of the first: "27 times".
func (e entry) count() string {
	if len(e) == 1 {
		return ""
	}
	return fmt.Sprintf(", %d times", len(e))
}

// writeOthers names what all but the first are about.
func (e entry) writeOthers(w io.Writer) {
	if len(e) == 1 {
		return
	}
	names, seen := []string{}, map[string]bool{"": true, e[0].distinct(e[0]): true}
	for _, x := range e[1:] {
		if n := x.distinct(e[0]); !seen[n] {
			seen[n] = true
			names = append(names, reports.Clean(n))
		}
	}
	others := layout.Count(len(e)-1, "other", "others")
	switch {
	case len(names) == 0:
		fmt.Fprintf(w, "       %s: --all prints each\n", others)
	case len(names) > shownMax+1:
		fmt.Fprintf(w, "       %s: %s and %d more; --all prints each\n", others, strings.Join(names[:shownMax], ", "), len(names)-shownMax)
	default:
		fmt.Fprintf(w, "       %s: %s; --all prints each\n", others, strings.Join(names, ", "))
	}
}

// distinct names a finding beside another one: by its address, or by its objects that the other
// one does not have. Handles and containers have no names for people.
func (x *Finding) distinct(first *Finding) string {
	if a := model.Named(x.Objects, model.RefAddress); a != "" {
		return a
	}
	var out []string
	for _, o := range x.Objects {
		if o.Kind != model.RefHandle && o.Kind != model.RefContainer && (x == first || !slices.Contains(first.Objects, o)) {
			out = append(out, o.Name)
		}
	}
	return strings.Join(out, " of ")
}

// size is how many findings some entries have.
func size(entries []entry) (n int) {
	for _, e := range entries {
		n += len(e)
	}
	return n
}
