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

// Campaign is what a search came to, or has come to so far.
type Campaign struct {
	Name          string // what is searched
	Running       bool
	Every         time.Duration // the page is written anew so often while it runs,
	AsOf          time.Time     // and was written then
	Ended         string        // why; "" if it was interrupted
	Elapsed, Left time.Duration
	Runs, Unknown uint64
	States, Pairs int
	Allocators    int // states of allocators
	// How much of what the next run sees nobody has seen, with a band, or why that is not known.
	UnseenStates, UnseenAllocators string
	Findings                       []Finding
	Open                           int      // kinds of failures that nobody made small yet
	Deaths, Defects                []string // a line each
	Defective                      int      // runs of which ipamsim is in doubt; Defects tell of some
	Caught, Canaries               uint64
	Worlds, Quiet                  uint64    // drawn worlds, and those of them in which nothing can happen from outside
	Lacking                        []Lacking // the others, by what cannot
	Repeated                       reports.Repeated
	Series                         []Sample // by time
	Dir                            string   // where the files of the findings are, a relative URL as seen from the page; "": beside it
}

// Lacking is how many of a campaign's worlds lack a kind of deed: operator, force,
// fault or crash.
type Lacking struct {
	Deed   string
	Worlds uint64
}

// Sample is how far a campaign was at a time of its own.
type Sample struct {
	At                      time.Duration
	Runs                    uint64
	States, Pairs, Findings int
}

// Finding is one of a campaign's, as findings.json has it: names and order of its
// fields are a contract with other people's scripts.
type Finding struct {
	Fingerprint string         `json:"fingerprint"`
	Invariant   string         `json:"invariant"`
	Severity    model.Severity `json:"severity"`
	Died        bool           `json:"died,omitempty"` // the worker process died or hung: the file is run, not replayed
	Upstream    string         `json:"upstream"`
	Sentence    string         `json:"sentence"`
	Label       string         `json:"label,omitempty"` // whose deed: "no fault", "operator's deed"
	Known       string         `json:"known,omitempty"` // "scenarios: …" that show the same cause; NEW; - if nobody knows
	Real        string         `json:"real,omitempty"`  // under Kubernetes' own controllers: confirmed or not confirmed
	Cause       []string       `json:"cause,omitempty"` // why, a line for each link, the violation's own first
	File        string         `json:"file"`            // these four lie beside findings.json
	History     string         `json:"history,omitempty"`
	Issue       string         `json:"issue,omitempty"` // a text for the manager's maintainers
	Page        string         `json:"page,omitempty"`
	Count       uint64         `json:"count"`
	FirstRun    uint64         `json:"firstRun"`
	FirstAfter  float64        `json:"firstAfterSeconds"`
	Pods        int            `json:"pods"`
	Switches    int            `json:"switches"`
	Faults      int            `json:"faults"`
	Steps       int            `json:"steps"`
	// Repeated are the runs that its recording took more than once.
	Repeated reports.Repeated `json:"repeated"`
	// Small is false for a run as it was recorded: its fingerprint will be another
	// one when it has been made small.
	Small         bool    `json:"small"`
	ShrinkRuns    int     `json:"shrinkRuns,omitempty"`
	ShrinkSeconds float64 `json:"shrinkSeconds,omitempty"`
	// Of Sampled random continuations from its last decision, Failing failed too.
	Sampled int `json:"sampled,omitempty"`
	Failing int `json:"failing,omitempty"`
	// Also are the other invariants that the same cause broke, sorted.
	Also []string `json:"also,omitempty"`
	// Keys are the causes of all that were shrunk and have its name, as fuzz/testdata/known
	// has them: LOOK | REST OF THE CAUSE.
	Keys []string `json:"keys,omitempty"`
}

// Index is the page of a campaign.
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
		return fmt.Sprintf("It runs: %s so far, %s left, as of %s. %s", short(c.Elapsed), short(c.Left), asOf, what)
	case c.Running:
		return fmt.Sprintf("It runs: %s so far, as of %s. %s", short(c.Elapsed), asOf, what)
	case c.Ended == "":
		return "It was interrupted; the same command continues. " + what
	}
	return fmt.Sprintf("It ended after %s: %s. %s", short(c.Elapsed), c.Ended, what)
}

// found is how many findings there are, and how many of them are not small.
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
		{"kinds of situations seen", grouped(uint64(c.States))}, {"states of allocators seen", grouped(uint64(c.Allocators))},
		{"pairs of conflicting operations", grouped(uint64(c.Pairs))},
		{"situations of the next run that are unseen, by estimate", c.UnseenStates}, {"states of its allocators that are", c.UnseenAllocators},
		{"mutants", fmt.Sprintf("%d of %d detected", c.Caught, c.Canaries)},
	}
	if c.Worlds == 0 {
		return all
	}
	share := func(n uint64) string { return fmt.Sprintf("%s of %s", grouped(n), grouped(c.Worlds)) }
	for _, l := range c.Lacking {
		all = append(all, Fact{"worlds without " + l.Deed, share(l.Worlds)})
	}
	return append(all, Fact{"worlds without any of these", share(c.Quiet)})
}

// notes are what makes the rest worth less.
func (c *Campaign) notes() []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if c.Caught == 0 && !c.Running {
		say("no mutant was detected: that nothing was found proves nothing")
	}
	if c.Open > 0 && !c.Running {
		say("kinds of failures not shrunk within the time: %d; the same command continues", c.Open)
	}
	if c.Unknown > 0 {
		say("%s cut short by a limit, which proves nothing", plural(c.Unknown, "run"))
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
		say("how much is unseen is an estimate with a 95 %% band: it takes the next run for one that is drawn as those before; of other spaces and strategies it says nothing")
	}
	if t := c.Repeated.String(); t != "" {
		say("%s", t)
	}
	return out
}

// findings are the table, in the order in which they are given.
func findings(all []Finding, dir string) *Table {
	t := &Table{Name: "findings", Title: "Findings", Columns: []Column{
		{Title: "Finding"}, {Title: "Invariant", Choice: true}, {Title: "Whose deed", Choice: true}, {Title: "Known", Choice: true}, {Title: "Severity", Choice: true}, {Title: "Manager", Choice: true},
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
		count.More = fmt.Sprintf("%d of %d continuations fail, too", f.Failing, f.Sampled)
	}
	after := time.Duration(f.FirstAfter * float64(time.Second))
	return []Cell{
		name, {Text: f.Invariant, More: also(f.Also)}, {Text: f.Label, More: strings.Join(f.Cause, "; ")}, f.known(), severity(f.Severity), {Text: manager(f.Upstream), More: version(f.Upstream)}, size,
		{Text: short(after), More: "run " + grouped(f.FirstRun), Order: order(f.FirstAfter)}, count, {Command: f.command()},
	}
}

// known says whether the cause was known before.
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

// command shows the finding again, from the directory of its file.
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

// charts are what grew while the campaign went on. One that has just begun has none.
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
		over("Kinds of situations", "situations seen", false, func(s Sample) float64 { return float64(s.States) }),
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

// rates are runs per second over the last while: results come in shards, so that
// over a shorter one the rate would be noise.
func (c *Campaign) rates() []chart.Point {
	s := c.Series
	while := max(s[len(s)-1].At/ratesOf, time.Second)
	var out []chart.Point
	from := 0
	for n := 1; n < len(s); n++ {
		for s[n].At-s[from+1].At >= while {
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

// ratesOf a campaign's time is how long a rate is taken over.
const ratesOf = 30

// moduleVersion in a text that says which code ran.
var moduleVersion = regexp.MustCompile(`([A-Za-z0-9.-]+)@(\S+)`)

// manager is the address managers of a text that says which code ran, "calico" or
// "calico+whereabouts": the last element of each module's path.
func manager(upstream string) string {
	var names []string
	for _, m := range moduleVersion.FindAllStringSubmatch(upstream, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return strings.Join(names, "+")
}

// version is what stands behind the @.
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
