package index

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/chart"
)

// Campaign is the state of a search.
type Campaign struct {
	Name          string // of the search space
	Running       bool
	Every         time.Duration // interval at which the page is rewritten while it runs
	AsOf          time.Time     // time of this page
	Ended         string        // why; "" if it was interrupted
	Elapsed, Left time.Duration
	Runs, Unknown uint64
	States, Pairs int
	Allocators    int // states of allocators
	// Estimates, with a band, of the share of unseen states in the next run, or why there is none.
	UnseenStates, UnseenAllocators string
	Findings                       []Finding
	Open                           int      // signatures that are not shrunk yet
	Deaths, Defects                []string // a line each
	Defective                      int      // runs that ipamsim itself may have failed; Defects describes some
	Caught, Canaries               uint64
	Worlds, Quiet                  uint64    // drawn worlds, and those without any action, force, fault or crash
	Lacking                        []Lacking // worlds without one kind of action
	Repeated                       reports.Repeated
	Series                         []Sample // by time
	Dir                            string   // where the files of the findings are, a relative URL as seen from the page; "": beside it
}

// Lacking counts the worlds of a campaign without one class of actions: operator, force,
// fault or crash.
type Lacking struct {
	Class  string
	Worlds uint64
}

// Sample is the progress of a campaign at a time since its start.
type Sample struct {
	At                      time.Duration
	Runs                    uint64
	States, Pairs, Findings int
}

// Finding is a finding of a campaign, as in findings.json. Scripts depend on the names and the
// order of its fields.
type Finding struct {
	Fingerprint string         `json:"fingerprint"`
	Invariant   string         `json:"invariant"`
	Severity    model.Severity `json:"severity"`
	Died        bool           `json:"died,omitempty"` // the worker process died or hung: the file is run, not replayed
	Upstream    string         `json:"upstream"`
	Sentence    string         `json:"sentence"`
	Trigger     string         `json:"trigger,omitempty"` // "no fault", "operator action"
	Known       string         `json:"known,omitempty"`   // "scenarios: …" with the same cause; NEW; - if not compared
	Real        string         `json:"real,omitempty"`    // under Kubernetes' own controllers: confirmed or not confirmed
	Cause       []string       `json:"cause,omitempty"`   // why, a line for each link, the violation's own first
	File        string         `json:"file"`              // these four lie beside findings.json
	History     string         `json:"history,omitempty"`
	Issue       string         `json:"issue,omitempty"` // the issue text for the manager's maintainers
	Page        string         `json:"page,omitempty"`
	Count       uint64         `json:"count"`
	FirstRun    uint64         `json:"firstRun"`
	FirstAfter  float64        `json:"firstAfterSeconds"`
	Pods        int            `json:"pods"`
	Switches    int            `json:"switches"`
	Faults      int            `json:"faults"`
	Steps       int            `json:"steps"`
	// Repeated counts the runs that were repeated to record it.
	Repeated reports.Repeated `json:"repeated"`
	// Small is false for a run as recorded. Shrinking changes its fingerprint.
	Small         bool    `json:"small"`
	ShrinkRuns    int     `json:"shrinkRuns,omitempty"`
	ShrinkSeconds float64 `json:"shrinkSeconds,omitempty"`
	// Sampled counts random continuations from its last decision, Failing those that fail too.
	Sampled int `json:"sampled,omitempty"`
	Failing int `json:"failing,omitempty"`
	// Also lists other invariants that the same cause broke, sorted.
	Also []string `json:"also,omitempty"`
	// Keys lists the causes of all shrunk runs with its fingerprint, in the format of
	// fuzz/testdata/known: SIGNATURE | REST OF THE CAUSE.
	Keys []string `json:"keys,omitempty"`
}

// Index returns the page of a campaign.
func (c *Campaign) Index() *Index {
	x := &Index{
		Title: "Campaign: " + c.Name, Lead: c.lead(), Notes: c.notes(),
		Facts:  append(c.facts(), Fact{"findings", c.found()}),
		Charts: c.charts(), Tables: []*Table{findings(c.Findings, c.Dir)},
	}
	if c.Running {
		x.Reload = c.Every
	}
	return x
}

func (c *Campaign) lead() string {
	const what = "Generated scenarios and schedules, run with the real code and checked at every step. Each cause of failure is one finding, shrunk."
	asOf := c.AsOf.UTC().Format("2006-01-02 15:04:05 UTC")
	switch {
	case c.Running && c.Left > 0:
		return fmt.Sprintf("Running: %s so far, %s left, as of %s. %s", short(c.Elapsed), short(c.Left), asOf, what)
	case c.Running:
		return fmt.Sprintf("Running: %s so far, as of %s. %s", short(c.Elapsed), asOf, what)
	case c.Ended == "":
		return "Interrupted; the same command continues. " + what
	}
	return fmt.Sprintf("Ended after %s: %s. %s", short(c.Elapsed), c.Ended, what)
}

// found counts the findings, and those not shrunk.
func (c *Campaign) found() string {
	rough := 0
	for _, f := range c.Findings {
		if !f.Small {
			rough++
		}
	}
	if rough > 0 {
		return fmt.Sprintf("%d (%d as recorded)", len(c.Findings), rough)
	}
	return strconv.Itoa(len(c.Findings))
}

func (c *Campaign) facts() []Fact {
	rate := "-"
	if s := c.Elapsed.Seconds(); s > 0 {
		rate = fmt.Sprintf("%.1f", float64(c.Runs)/s)
	}
	all := []Fact{
		{"runs", grouped(c.Runs)}, {"time", short(c.Elapsed)}, {"runs per second", rate},
		{"states seen", grouped(uint64(c.States))}, {"allocator states seen", grouped(uint64(c.Allocators))},
		{"pairs of conflicting operations", grouped(uint64(c.Pairs))},
		{"unseen states in the next run (estimate)", c.UnseenStates}, {"unseen allocator states (estimate)", c.UnseenAllocators},
		{"mutants", fmt.Sprintf("%d of %d detected", c.Caught, c.Canaries)},
	}
	if c.Worlds == 0 {
		return all
	}
	share := func(n uint64) string { return fmt.Sprintf("%s of %s", grouped(n), grouped(c.Worlds)) }
	for _, l := range c.Lacking {
		all = append(all, Fact{"worlds without " + l.Class, share(l.Worlds)})
	}
	return append(all, Fact{"worlds without any of these", share(c.Quiet)})
}

// notes lists what limits the results.
func (c *Campaign) notes() []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if c.Caught == 0 && !c.Running {
		say("no mutant was detected, so finding nothing proves nothing")
	}
	if c.Open > 0 && !c.Running {
		say("signatures not shrunk within the time: %d; the same command continues", c.Open)
	}
	if c.Unknown > 0 {
		say("%s cut short by a limit, with no verdict", plural(c.Unknown, "run"))
	}
	for _, d := range c.Deaths {
		say("unconfirmed death: %s", d)
	}
	for _, d := range c.Defects {
		say("in doubt: %s", d)
	}
	if more := c.Defective - len(c.Defects); more > 0 {
		say("in doubt: %d more", more)
	}
	if c.UnseenStates != "" {
		say("the unseen share is an estimate with a 95 %% band for the next run of this space and strategy; it does not apply to others")
	}
	if t := c.Repeated.String(); t != "" {
		say("%s", t)
	}
	return out
}

// findings returns the table of findings, in their order.
func findings(all []Finding, dir string) *Table {
	t := &Table{Name: "findings", Title: "Findings", Columns: []Column{
		{Title: "Finding"}, {Title: "Invariant", Choice: true}, {Title: "Trigger", Choice: true}, {Title: "Known", Choice: true}, {Title: "Severity", Choice: true}, {Title: "Manager", Choice: true},
		{Title: "Size", Choice: true}, {Title: "First after", Number: true}, {Title: "Count", Number: true}, {Title: "Replay"},
	}}
	for _, f := range all {
		t.Rows = append(t.Rows, f.cells(dir))
	}
	return t
}

func (f *Finding) cells(dir string) []Cell {
	link := func(name string) string {
		if name == "" || dir == "" || dir == "." {
			return name
		}
		return dir + "/" + name
	}
	name := Cell{Text: f.Fingerprint, More: f.Sentence, Link: link(f.Page)}
	for _, l := range []Link{{"history", link(f.History)}, {"issue", link(f.Issue)}, {"file", link(f.File)}} {
		if l.To != "" {
			name.Links = append(name.Links, l)
		}
	}
	size := Cell{Text: "as recorded", Mark: Mild}
	if f.Small {
		size = Cell{Text: "small"}
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{f.Pods, "pod"}, {f.Switches, "forced switch"}, {f.Faults, "fault"}, {f.Steps, "step"}} {
		if p.n > 0 {
			parts = append(parts, plural(p.n, p.what))
		}
	}
	size.More = strings.Join(parts, ", ")
	size.Order = order(float64(f.Steps))
	count := Cell{Text: grouped(f.Count), Order: order(float64(f.Count))}
	if f.Sampled > 0 {
		count.More = fmt.Sprintf("%d of %d continuations also fail", f.Failing, f.Sampled)
	}
	after := time.Duration(f.FirstAfter * float64(time.Second))
	return []Cell{
		name, {Text: f.Invariant, More: also(f.Also)}, {Text: f.Trigger, More: strings.Join(f.Cause, "; ")}, f.known(), severity(f.Severity), {Text: manager(f.Upstream), More: version(f.Upstream)}, size,
		{Text: short(after), More: "run " + grouped(f.FirstRun), Order: order(f.FirstAfter)}, count, {Command: f.command()},
	}
}

// known renders whether the cause was known before.
func (f *Finding) known() Cell {
	switch f.Known {
	case "", "-":
		return Cell{Text: "-"}
	case "NEW":
		return Cell{Text: "NEW", Mark: Grave}
	}
	return Cell{Text: "known", More: f.Known}
}

func also(invariants []string) string {
	if len(invariants) == 0 {
		return ""
	}
	return "also " + strings.Join(invariants, ", ")
}

// command reproduces the finding from the directory of its file.
func (f *Finding) command() string {
	if f.File == "" {
		return ""
	}
	verb := "replay"
	if f.Died {
		verb = "run"
	}
	return "ipamsim " + verb + " " + reports.Shell(f.File)
}

// charts draws the progress of the campaign. A campaign that has just started has none.
func (c *Campaign) charts() []Chart {
	if len(c.Series) < 2 {
		return nil
	}
	over := func(title, unit string, steps bool, of func(Sample) float64) Chart {
		l := chart.Line{Name: title, Steps: steps}
		for _, s := range c.Series {
			l.Points = append(l.Points, chart.Point{X: s.At.Seconds(), Y: of(s)})
		}
		return drawn(title, unit, l)
	}
	return []Chart{
		over("Runs", "runs", false, func(s Sample) float64 { return float64(s.Runs) }),
		drawn("Runs per second", "runs per second", chart.Line{Name: "runs per second", Points: c.rates()}),
		over("Findings", "findings", true, func(s Sample) float64 { return float64(s.Findings) }),
		over("States", "states seen", false, func(s Sample) float64 { return float64(s.States) }),
		over("Pairs of conflicting operations", "pairs seen", false, func(s Sample) float64 { return float64(s.Pairs) }),
	}
}

func drawn(title, unit string, l chart.Line) Chart {
	first, last := l.Points[0], l.Points[len(l.Points)-1]
	at := func(p chart.Point) string {
		return fmt.Sprintf("%s at %s", strconv.FormatFloat(math.Round(p.Y*10)/10, 'f', -1, 64), short(time.Duration(p.X*float64(time.Second))))
	}
	return Chart{
		&chart.Chart{Title: title, X: chart.Axis{Label: "time", Duration: true}, Y: chart.Axis{Label: unit, Whole: l.Steps}, Lines: []chart.Line{l}},
		"from " + at(first) + " to " + at(last),
	}
}

// rates returns runs per second over a sliding window. Results arrive in shards, so a shorter
// window would be noise.
func (c *Campaign) rates() []chart.Point {
	s := c.Series
	window := max(s[len(s)-1].At/ratesOf, time.Second)
	var out []chart.Point
	from := 0
	for n := 1; n < len(s); n++ {
		for s[n].At-s[from+1].At >= window {
			from++
		}
		if d := (s[n].At - s[from].At).Seconds(); d > 0 {
			out = append(out, chart.Point{X: s[n].At.Seconds(), Y: float64(s[n].Runs-s[from].Runs) / d})
		}
	}
	if len(out) == 0 {
		out = []chart.Point{{X: s[len(s)-1].At.Seconds()}}
	}
	return out
}

// ratesOf is the quotient of a campaign's time and the window of a rate.
const ratesOf = 30

// moduleVersion matches module@version.
var moduleVersion = regexp.MustCompile(`([A-Za-z0-9.-]+)@(\S+)`)

// manager returns the address managers of an upstream text, "calico" or "calico+whereabouts":
// the last element of each module's path.
func manager(upstream string) string {
	var names []string
	for _, m := range moduleVersion.FindAllStringSubmatch(upstream, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return strings.Join(names, "+")
}

// version returns the versions of an upstream text.
func version(upstream string) string {
	var all []string
	for _, m := range moduleVersion.FindAllStringSubmatch(upstream, -1) {
		if m[2] != "built-in" && !slices.Contains(all, m[2]) {
			all = append(all, m[2])
		}
	}
	return strings.Join(all, ", ")
}

func severity(s model.Severity) Cell {
	n := slices.Index(gravity, s)
	c := Cell{Text: string(s), Order: order(float64(n))}
	if n >= 0 {
		c.Mark = []Mark{Mild, Bad, Grave}[n]
	}
	return c
}
