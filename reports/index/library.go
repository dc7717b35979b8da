package index

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/reports"
)

// Library collects runs of scenarios for a page. Its memory is bounded: it keeps counts, and as
// many runs as a page shows.
type Library struct {
	Title string // "" for the default
	Note  string // about the table of runs

	runs, asExpected, unknown, broken int
	wall                              time.Duration
	of                                map[string]*tally // by scenario
	total                             map[string]int    // runs by invariant that they violated
	kept                              [3][]numbered     // by priority: unexpected, violations as expected, other
}

// tally counts the outcomes of one scenario's runs.
type tally struct {
	runs, pass, unexpected, unknown int
	violated                        map[string]int
}

type numbered struct {
	n int
	Run
}

// Run is one run of a Library.
type Run struct {
	Scenario, Title, Upstream, Datastore, Strategy, Store string
	Seed                                                  uint64
	Verdict                                               reports.Verdict
	Reason                                                string // of an unknown verdict
	AsExpected                                            bool
	Gravest                                               *model.Violation // nil if nothing broke
	Violated                                              []string         // invariants, sorted
	Violations                                            int
	Steps, Calls                                          int
	Virtual, Wall                                         time.Duration
	Page                                                  string // beside the index, "" if there is none
	Command                                               string // reproduces it, "" if not known
}

// RunOf returns the part of a report that the index shows.
func RunOf(r *reports.Report) Run {
	out := Run{
		Scenario: r.Scenario, Title: r.Title, Upstream: r.Upstream, Datastore: r.Datastore, Strategy: r.Strategy, Store: r.Store, Seed: r.Seed, Command: r.Command(),
		Verdict: r.Verdict, Reason: r.Reason, AsExpected: r.AsExpected(), Violations: len(r.Violations), Calls: r.Calls, Virtual: r.Virtual, Wall: r.Wall,
	}
	if v := r.Gravest(); v != nil {
		own := *v
		out.Gravest = &own
	}
	if r.Trace != nil {
		out.Steps = len(r.Trace.Steps)
	}
	for _, v := range r.Violations {
		out.Violated = append(out.Violated, v.Invariant)
	}
	out.Violated = sorted(out.Violated)
	return out
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// rowsMax is the maximum number of runs on a page. Runs that ended as expected are omitted
// first.
const rowsMax = 1000

// Add adds a finished run.
func (l *Library) Add(r Run) {
	l.runs++
	l.wall += r.Wall
	if l.of == nil {
		l.of, l.total = map[string]*tally{}, map[string]int{}
	}
	t := l.of[r.Scenario]
	if t == nil {
		t = &tally{violated: map[string]int{}}
		l.of[r.Scenario] = t
	}
	t.runs++
	if r.Verdict == reports.Pass {
		t.pass++
	}
	rank := 0
	switch {
	case r.Verdict == reports.Unknown:
		t.unknown++
		l.unknown++
	case !r.AsExpected:
		t.unexpected++
	default:
		l.asExpected++
		if rank = 2; r.Violations > 0 {
			rank = 1
		}
	}
	if r.Violations > 0 {
		l.broken++
	}
	for _, v := range r.Violated {
		t.violated[v]++
		l.total[v]++
	}
	if len(l.kept[rank]) < rowsMax {
		l.kept[rank] = append(l.kept[rank], numbered{l.runs, r})
	}
}

// Index returns the page of a library.
func (l *Library) Index() (*Index, error) {
	known, err := knownAs()
	if err != nil {
		return nil, err
	}
	x := &Index{
		Title: cmp.Or(l.Title, "Library of scenarios"), Facts: l.facts(),
		Lead: "Each run executes the real code in a simulated cluster and is reproducible by its seed. A scenario that expects a violation and gets it ends as expected.",
	}
	if l.runs > len(l.of) {
		x.Tables = append(x.Tables, l.sideBySide())
	}
	x.Tables = append(x.Tables, l.table(known))
	return x, nil
}

func (l *Library) facts() []Fact {
	return []Fact{
		{"runs", grouped(l.runs)}, {"scenarios", grouped(len(l.of))}, {"as expected", grouped(l.asExpected)},
		{"not as expected", grouped(l.runs - l.asExpected - l.unknown)}, {"unknown", grouped(l.unknown)},
		{"runs that broke an invariant", grouped(l.broken)}, {"total time", short(l.wall)},
	}
}

// table returns the table of runs.
func (l *Library) table(known map[string]string) *Table {
	t := &Table{Name: "runs", Title: "Runs", Note: l.Note, Columns: []Column{
		{Title: "Scenario"}, {Title: "Manager", Choice: true}, {Title: "Ended", Choice: true}, {Title: "Gravest violation", Choice: true},
		{Title: "Severity", Choice: true}, {Title: "Known as"}, {Title: "Seed", Number: true}, {Title: "Steps", Number: true},
		{Title: "Virtual time", Number: true}, {Title: "Reproduce"},
	}}
	for _, r := range l.shown() {
		t.Rows = append(t.Rows, r.cells(known))
	}
	t.Left = l.runs - len(t.Rows)
	return t
}

// shown returns the runs to show, in the order of Add.
func (l *Library) shown() []numbered {
	all := slices.Concat(l.kept[:]...)
	all = all[:min(len(all), rowsMax)]
	slices.SortFunc(all, func(a, b numbered) int { return a.n - b.n })
	return all
}

func (r *Run) cells(known map[string]string) []Cell {
	where := []string{r.Strategy}
	if r.Datastore != "" {
		where = append(where, r.Datastore)
	}
	if r.Store == "memory" {
		where = append(where, "in memory")
	}
	gravest, grave := Cell{}, Cell{}
	if v := r.Gravest; v != nil {
		gravest = Cell{Text: v.Invariant, More: v.Message}
		if n := r.Violations - 1; n > 0 {
			gravest.More += fmt.Sprintf(" (+%d more)", n)
		}
		grave = severity(v.Severity)
	}
	return []Cell{
		{Text: r.Scenario, Link: r.Page, More: r.Title}, {Text: manager(r.Upstream), More: version(r.Upstream)}, r.ended(), gravest, grave, recorded(known[r.Scenario]),
		{Text: strconv.FormatUint(r.Seed, 10), More: strings.Join(where, ", "), Order: order(float64(r.Seed))},
		{Text: grouped(r.Steps), More: plural(r.Calls, "API call"), Order: order(float64(r.Steps))},
		{Text: short(r.Virtual), More: fmt.Sprintf("%.2f s real", r.Wall.Seconds()), Order: order(r.Virtual.Seconds())}, {Command: r.Command},
	}
}

// ended renders the verdict, and whether it was expected.
func (r *Run) ended() Cell {
	switch {
	case r.Verdict == reports.Unknown:
		return Cell{Text: "unknown", More: r.Reason, Mark: Mild}
	case !r.AsExpected:
		return Cell{Text: "not as expected", Mark: Grave}
	case r.Verdict == reports.Fail:
		return Cell{Text: "fails as expected"}
	}
	return Cell{Text: "pass", Mark: Good}
}

// sideBySide returns a table with a row for each scenario: the number of runs that violated
// each invariant.
func (l *Library) sideBySide() *Table {
	shown := slices.SortedFunc(maps.Keys(l.total), func(a, b string) int { return cmp.Or(l.total[b]-l.total[a], cmp.Compare(a, b)) })
	t := &Table{Name: "scenarios", Title: "Side by side", Note: "The number of runs of each scenario that violated each invariant."}
	if more := len(shown) - columnsMax; more > 0 {
		t.Note += fmt.Sprintf(" The %d rarest invariants are omitted.", more)
	}
	shown = sorted(shown[:min(len(shown), columnsMax)])
	for _, c := range append([]string{"runs", "pass", "not as expected", "unknown"}, shown...) {
		t.Columns = append(t.Columns, Column{Title: c, Number: true})
	}
	t.Columns = append([]Column{{Title: "Scenario"}}, t.Columns...)
	names := slices.Sorted(maps.Keys(l.of))
	for _, name := range names[:min(len(names), rowsMax)] {
		y := l.of[name]
		row := []Cell{{Text: name}}
		for _, n := range []int{y.runs, y.pass, y.unexpected, y.unknown} {
			row = append(row, count(n))
		}
		for _, v := range shown {
			row = append(row, count(y.violated[v]))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Left = len(names) - len(t.Rows)
	return t
}

// columnsMax is the maximum number of invariants in the table.
const columnsMax = 8

func count(n int) Cell { return Cell{Text: grouped(n), Order: order(float64(n))} }
