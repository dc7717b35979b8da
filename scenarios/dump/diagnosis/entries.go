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

// entry is a group of findings of one invariant with one cause. Write prints the first of them
// in full.
type entry []*Finding

// cause is the key by which findings are grouped.
type cause struct {
	code     string
	severity model.Severity
	remedy   any // the remedy that fixes them
	news     bool
}

// entries groups findings of one invariant by cause, in the order of first occurrence; with
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

// remedy returns a comparable value for the remedy of a finding. Without a remedy, critical
// findings are not grouped and others are grouped by code.
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

// count renders the number of findings of an entry: ", 27 times".
func (e entry) count() string {
	if len(e) == 1 {
		return ""
	}
	return fmt.Sprintf(", %d times", len(e))
}

// writeOthers names the objects of all findings but the first.
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

// distinct names what distinguishes a finding from the first: its address, or the objects that
// the first does not have. Handles and containers have no readable names.
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

// size returns the number of findings in entries.
func size(entries []entry) (n int) {
	for _, e := range entries {
		n += len(e)
	}
	return n
}
