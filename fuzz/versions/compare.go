package versions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"ipamsim/reports/baseline"
	"ipamsim/reports/layout"
	"ipamsim/reports/table"
)

// Mark is the result for a version, according to its counts.
type Mark int

// The marks. A version without violations does not necessarily hold: it does if the version that
// breaks most often would have shown a violation in as many runs.
const (
	Unknown Mark = iota // no violation, which may be chance; or the version could not run
	Lacks               // the version does not support what the case needs
	Holds
	Breaks
)

// Row is the result of one case, with a cell for each version in the given order.
type Row struct {
	Case  *Case
	Cells []Count
}

// Comparison is the configuration of a comparison.
type Comparison struct {
	Versions []Version // from the oldest to the newest
	Seeds    int       // for each case at first
	Most     int       // limit of seeds for a case that breaks rarely
	Workers  int       // programs that run at a time
	Kept     *Kept     // earlier counts; nil: none
	Done     func()    // called after each case of each version, from any goroutine; may be nil
}

// enough is the number of runs in which a case has to break for a meaningful share.
const enough = 5

// rare is the highest probability of chance for a version that counts as one that holds.
const rare = 0.01

// Run counts all cases. If ctx ends, the rest has its error.
func (c *Comparison) Run(ctx context.Context, cases []Case) []Row {
	rows := make([]Row, len(cases))
	at := make(chan int)
	var wait sync.WaitGroup
	for range max(1, c.Workers) {
		wait.Go(func() {
			for i := range at {
				rows[i] = c.row(ctx, &cases[i])
			}
		})
	}
	for i := range cases {
		at <- i
	}
	close(at)
	wait.Wait()
	return rows
}

// row counts one case. Until some version breaks often enough, all versions run more seeds, the
// same number each, so that they can be compared.
func (c *Comparison) row(ctx context.Context, of *Case) Row {
	r := Row{of, make([]Count, len(c.Versions))}
	for from, to := range c.batches {
		for i := range c.Versions {
			if r.Cells[i].Err == "" && r.Cells[i].Lacks == "" {
				r.Cells[i] = r.Cells[i].Add(c.count(ctx, i, of, from, to))
			}
			if c.Done != nil && from == 1 {
				c.Done()
			}
		}
		if best := r.most(); best.Broken == 0 && len(of.Violations) == 0 || best.Broken >= enough {
			break
		}
	}
	return r
}

// count returns the count of a version's runs of a case with some seeds.
func (c *Comparison) count(ctx context.Context, version int, of *Case, from, to int) Count {
	v := &c.Versions[version]
	return c.Kept.or(v, of, from, to, func() Count { return v.Run(ctx, of, from, to) })
}

// batches yields the first and the last seed of each batch: c.Seeds, then each time as many as
// before together, up to c.Most.
func (c *Comparison) batches(yield func(from, to int) bool) {
	for from, to := 1, c.Seeds; from <= to && yield(from, to); from, to = to+1, min(2*to, c.Most) {
	}
}

// Whole reports whether no run of the row was cut.
func (r *Row) Whole() bool {
	return !slices.ContainsFunc(r.Cells, func(n Count) bool { return n.Cut })
}

// most returns the count of the version that breaks most often.
func (r *Row) most() (best Count) {
	for _, n := range r.Cells {
		if n.Err == "" && n.Broken*max(1, best.Runs) > best.Broken*max(1, n.Runs) {
			best = n
		}
	}
	return best
}

// Marks returns the mark of each version.
func (r *Row) Marks() []Mark {
	best := r.most()
	out := make([]Mark, len(r.Cells))
	for i, n := range r.Cells {
		switch {
		case n.Lacks != "":
			out[i] = Lacks
		case n.Err != "" || n.Runs == 0:
		case n.Broken > 0:
			out[i] = Breaks
		case len(r.Case.Violations) == 0 && best.Broken == 0:
			out[i] = Holds // no version breaks, as expected
		case best.Broken > 0 && baseline.More(best.Broken, best.Runs, 0, n.Runs) < rare:
			out[i] = Holds
		}
	}
	return out
}

// Affected returns the versions in which a case breaks, as text. Versions that lack what the case
// needs are left out.
func Affected(names []string, marks []Mark) string {
	if slices.Contains(marks, Lacks) {
		var have []string
		var of []Mark
		for i, m := range marks {
			if m != Lacks {
				have, of = append(have, names[i]), append(of, m)
			}
		}
		if out := Affected(have, of); out != "all" {
			return out
		}
		return "all that have it"
	}
	first, last := slices.Index(marks, Breaks), len(marks)-1
	for ; last >= 0 && marks[last] != Breaks; last-- {
	}
	switch {
	case first < 0 && !slices.Contains(marks, Unknown):
		return "none"
	case first < 0:
		return "none was seen"
	case slices.Contains(marks[first:last+1], Holds):
		return "some"
	}
	since, until := edge(names, marks, first, -1), edge(names, marks, last, +1)
	switch {
	case since == "" && until == "":
		return "all"
	case until == "":
		return "since " + since
	case since == "":
		return "until " + until
	}
	return "from " + since + " until " + until
}

// edge returns the version at which a case begins or ceases to break: version i, or one of the
// unknown versions before it (step -1) or after it (+1). It is "" if no version beyond holds.
func edge(names []string, marks []Mark, i, step int) string {
	at := []string{names[i]}
	for i += step; i >= 0 && i < len(marks) && marks[i] == Unknown; i += step {
		at = append(at, names[i])
	}
	if i < 0 || i == len(marks) {
		return ""
	}
	if step < 0 {
		slices.Reverse(at)
	}
	return strings.Join(at, " or ")
}

// Table returns the rows as a table: the number of runs that broke, and of all runs, by version. A
// question mark is a version whose result is unknown, a dash one that lacks what the case
// needs (see Lacking). Cases that broke with no version have no row; quiet counts them.
func Table(versions []Version, rows []Row) (t *table.Table, quiet int) {
	heads := []string{"scenario", "violation"}
	var names []string
	for _, v := range versions {
		names = append(names, v.Name)
	}
	t = table.New(slices.Concat(heads, names, []string{"affected"})...)
	for i := range rows {
		r := &rows[i]
		marks := r.Marks()
		if !slices.ContainsFunc(marks, func(m Mark) bool { return m != Holds && m != Lacks }) {
			quiet++
			continue
		}
		of := cmp.Or(strings.Join(r.Case.Violations, ", "), "any")
		cells := []string{r.Case.Name, of}
		for k, n := range r.Cells {
			cells = append(cells, n.text(marks[k]))
		}
		t.Add(append(cells, Affected(names, marks))...)
	}
	return t, quiet
}

// Lacking explains the dashes in the table: what the versions lack, and for how many cases.
func Lacking(versions []Version, rows []Row) (out []string) {
	names, cases := map[string][]string{}, map[string]map[string]bool{}
	var all []string
	for i, v := range versions {
		for _, r := range rows {
			what := r.Cells[i].Lacks
			if what == "" {
				continue
			}
			if cases[what] == nil {
				cases[what], all = map[string]bool{}, append(all, what)
			}
			cases[what][r.Case.Name] = true
			if !slices.Contains(names[what], v.Name) {
				names[what] = append(names[what], v.Name)
			}
		}
	}
	for _, what := range all {
		out = append(out, fmt.Sprintf("– %s: %s (%s)", strings.Join(names[what], ", "), what, layout.Plural(len(cases[what]), "scenario")))
	}
	return out
}

func (n Count) text(m Mark) string {
	switch {
	case m == Lacks:
		return "–"
	case n.Err != "":
		return "could not run"
	case m == Unknown:
		return fmt.Sprintf("%d/%d ?", n.Broken, n.Runs)
	}
	return fmt.Sprintf("%d/%d", n.Broken, n.Runs)
}
