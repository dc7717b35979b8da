package baseline

import (
	"bytes"
	"encoding/xml"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/golden"
)

// forms are the output formats of an outcome, by the end of the file's name.
var forms = map[string]func(io.Writer, *Outcome) error{
	"xml": JUnit, "sarif": SARIF, "md": Markdown, "annotations": Annotations,
}

func written(t interface{ Fatal(...any) }, form string, o *Outcome) string {
	var b bytes.Buffer
	if err := forms[form](&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// hostile is a text that would be something else in each of the forms, or on a
// terminal, if it got there as it is.
const hostile = "a|b`c`<script>alert(1)</script>]]>&amp;%0A::error::\n::set-env name=x::y\r\x1b[31m\u202e\x00\xff [x](https://evil.example) @everyone #1 **b** 50% a,b:c www.evil.example </pre></details>"

func green() *Outcome {
	return &Outcome{
		Versions: []Version{{"whereabouts", "github.com/k8snetworkplumbingwg/whereabouts@v0.9.4", "github.com/k8snetworkplumbingwg/whereabouts@v0.9.4"}},
		Rows:     []Row{{Scenario: "t1-tkg-range-exhausted", File: "scenarios/t1-tkg-range-exhausted.yaml", Line: 12, Manager: "whereabouts", Runs: 3, Wall: 1200 * time.Millisecond}},
		Runs:     3, Wall: 2 * time.Second,
	}
}

// rich has a change of every kind, and two rows whose every text is hostile.
func rich() *Outcome {
	o := green()
	o.Versions[0].Now += " => ../whereabouts"
	o.Versions = append(o.Versions, Version{"calico", "github.com/projectcalico/calico@v3.31.0", "github.com/projectcalico/calico@v3.31.0"})
	row := func(name, manager string, changes ...Change) {
		o.Rows = append(o.Rows, Row{Scenario: name, File: "scenarios/" + name + ".yaml", Line: 7, Manager: manager, Runs: 3, Wall: 1500 * time.Millisecond, Changes: changes})
		o.Runs += 3
	}
	row("w1-two-blocks", "calico", Change{
		Kind: NewViolation, Regression: true, What: "duplicate-address", Severity: model.Critical, Before: "0 of 3 runs", After: "2 of 3 runs",
		Sentence: "10.64.75.3 is held by two live sandboxes: default/a-1 on node-a since 1s, and default/a-2 on node-b since 2s",
		Command:  "ipamsim run scenarios/w1-two-blocks.yaml --seed 2", Timeline: "  time  step\n1.000s    12  writes\n\n2.000s    15  writes again\n", Step: 15,
		Calls: calls,
	}, Change{Kind: CostMoved, Regression: true, What: "API calls per ADD", Before: "7.1", After: "8.2"},
		Change{Kind: CostMoved, What: "API calls per DEL", Before: "5.0", After: "4.0"})
	row("r1-whereabouts-162", "whereabouts", Change{Kind: FixedViolation, What: "duplicate-address", Severity: model.Critical, Before: "3 of 3 runs", After: "0 of 23 runs"})
	row("r3-other-order", "whereabouts", Change{Kind: ChangedViolation, Regression: true, What: "duplicate-address", Before: "3 of 3 runs", After: "0 of 23 runs",
		Sentence: "duplicate-address is not violated any more, but that is no mend: 2 ADDs are refused with seed 1, before at most 0."})
	row("x4-late", "whereabouts", Change{Kind: LeftOut, Regression: true, What: "scenario", Sentence: "2 of 6 runs were left out: the time of --budget was up."})
	row("r2-other-side", "whereabouts", Change{Kind: VanishedViolation, Regression: true, What: "leaked-claim", Severity: model.Minor, Before: "3 of 3 runs", After: "0 of 23 runs"})
	row("b1-order-strict", "calico", Change{Kind: Nondeterminism, Regression: true, Sentence: "seed 1 gave digest 1f and 2e", Command: "ipamsim run scenarios/b1-order-strict.yaml --verify"})
	row("x1-new", "calico", Change{Kind: NewScenario})
	row("x2-gone", "calico", Change{Kind: MissingScenario, Regression: true})
	row("found-7", "whereabouts", Change{Kind: NotReproduced, Regression: true, Sentence: "step 17: no choice is named cni-add/default/web-1"})
	row("x2-endless", "calico", Change{Kind: Unfinished, Regression: true, Before: "fail", After: "unknown"})
	row("x3-broken", "", Change{Kind: CannotRun, Regression: true, Sentence: "x3-broken.yaml:3: spec.ipam: want calico, whereabouts or mixed"})
	row(hostile, hostile, Change{
		Kind: NewViolation, Regression: true, What: hostile, Severity: hostile, Before: hostile, After: hostile,
		Sentence: hostile, Command: hostile, Timeline: hostile + "\n\n" + hostile, File: hostile,
		Calls: []Call{{Step: -1, Text: hostile, Site: model.CallSite{Module: hostile, Frames: []model.Frame{{Function: hostile, File: hostile, Line: -1}, {File: "/" + hostile}}}}},
	})
	row("hostile-kind", "calico", Change{Kind: hostile})
	o.Versions = append(o.Versions, Version{hostile, hostile, hostile})
	o.Moved, o.Undecided, o.Elapsed = 4, 1, 2*time.Second
	o.Repeated = reports.Repeated{Woken: 2}
	return o
}

// calls are those of a cause: of a release, of an informer, of a fork without a line, and of
// a panic, whose stack does not name the module.
var calls = []Call{
	{Step: 12, Text: "step 12: cni-add LIST ipamblocks is what it had read for that", Site: model.CallSite{Module: "github.com/projectcalico/calico@v3.31.0", Frames: []model.Frame{
		{Function: "github.com/projectcalico/calico/libcalico-go/lib/ipam.ipamClient.prepareAffinityBlocksForHost", File: "libcalico-go/lib/ipam/ipam.go", Line: 512},
		{Function: "github.com/projectcalico/calico/cni-plugin/pkg/ipamplugin.cmdAdd.func2", File: "cni-plugin/pkg/ipamplugin/ipam_plugin.go", Line: 314}}}},
	{Step: 13, Text: "step 13: an informer read it", Site: model.CallSite{Module: "github.com/projectcalico/calico@v3.31.0", Informer: true}},
	{Step: 15, Text: "step 15: cni-add PUT ipamblocks broke it (changed)", Site: model.CallSite{Module: "github.com/projectcalico/calico@v3.31.0 => ../calico", Frames: []model.Frame{
		{Function: "github.com/projectcalico/calico/libcalico-go/lib/ipam.blockReaderWriter.updateBlock", File: "libcalico-go/lib/ipam/ipam_block_reader_writer.go"}}}},
	{Step: 16, Text: "step 16: calico-node panicked", Site: model.CallSite{Frames: []model.Frame{{Function: "k8s.io/client-go/tools/cache.(*FIFO).Pop", File: "fifo.go", Line: 7}}}},
}

// TestSARIFLeadsToTheCode: a result is at the file that shows it, of several finds each at
// its own, and its code flow leads through the lines of the address manager's modules.
func TestSARIFLeadsToTheCode(t *testing.T) {
	o := &Outcome{Rows: []Row{{Scenario: "search", File: "found/a.yaml", Search: true, Changes: []Change{
		{Kind: NewViolation, Regression: true, What: "stuck", File: "found/a.yaml", Calls: calls},
		{Kind: NewViolation, Regression: true, What: "convergence", File: "found/b.yaml"},
	}}}}
	sarifHolds(t, o)
	back, err := sarif.FromString(written(t, "sarif", o), sarif.WithStrictValidation())
	if err != nil {
		t.Fatal(err)
	}
	run := back.Runs[0]
	for i, want := range []string{"found/a.yaml", "found/b.yaml"} {
		if got := *run.Results[i].Locations[0].PhysicalLocation.ArtifactLocation.URI; got != want {
			t.Errorf("result %d is at %s, want %s", i, got, want)
		}
	}
	if !strings.Contains(written(t, "annotations", o), "file=found/b.yaml,line=1") {
		t.Error("the annotation of the second is at the first")
	}
	if len(run.Results[1].CodeFlows) != 0 || len(run.Results[0].CodeFlows) != 1 {
		t.Fatalf("%d and %d code flows", len(run.Results[0].CodeFlows), len(run.Results[1].CodeFlows))
	}
	steps := run.Results[0].CodeFlows[0].ThreadFlows[0].Locations
	if len(steps) != 3 || steps[0].ExecutionOrder != 12 || len(steps[0].Stack.Frames) != 2 {
		t.Fatalf("%+v", steps)
	}
	at := steps[0].Location.PhysicalLocation
	base := run.OriginalUriBaseIds[*at.ArtifactLocation.URIBaseID]
	if *base.URI+*at.ArtifactLocation.URI != "https://github.com/projectcalico/calico/blob/v3.31.0/libcalico-go/lib/ipam/ipam.go" || *at.Region.StartLine != 512 ||
		*steps[0].Module != "github.com/projectcalico/calico@v3.31.0" || *steps[0].Location.LogicalLocations[0].Name != "ipamClient.prepareAffinityBlocksForHost" {
		t.Errorf("%+v", at)
	}
	if fork := run.OriginalUriBaseIds["github.com/projectcalico/calico@v3.31.0 => ../calico"]; fork.URI != nil || steps[1].Location.PhysicalLocation.Region != nil {
		t.Error("a fork's source is said to be upstream's, or a line that nobody knows")
	}
	if crash := steps[2]; crash.Location.PhysicalLocation != nil || crash.Module != nil || *crash.Location.Message.Text != "step 16: calico-node panicked, in cache.(*FIFO).Pop (fifo.go:7)" {
		t.Errorf("a panic is said to be in a file of this repository: %+v", crash.Location)
	}
}

func TestGoldens(t *testing.T) {
	for name, o := range map[string]*Outcome{"green": green(), "rich": rich()} {
		for form := range forms {
			got, file := written(t, form, o), filepath.Join("testdata", name+"."+form)
			if again := written(t, form, o); again != got {
				t.Errorf("%s: two tellings differ", file)
			}
			golden.Check(t, file, got)
		}
	}
}

// TestFormsHold: whatever an outcome says, every form of it can be read by those it
// is made for, and nothing in it is anything but text.
func TestFormsHold(t *testing.T) {
	kinds := rapid.SampledFrom([]Kind{NewViolation, VanishedViolation, FixedViolation, ChangedViolation, LeftOut, Nondeterminism, CostMoved, NewScenario, MissingScenario, NotReproduced, CannotRun, Unfinished, "other"})
	words := rapid.OneOf(rapid.String(), rapid.Just(hostile), rapid.StringMatching("[|<>&`*_#@:%,\\n\\r\\\\\\[\\]()x ]{0,20}"),
		rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes")) }))
	frame := rapid.Custom(func(t *rapid.T) model.Frame {
		return model.Frame{Function: words.Draw(t, "function"), File: words.Draw(t, "source"), Line: rapid.Int().Draw(t, "line")}
	})
	call := rapid.Custom(func(t *rapid.T) Call {
		return Call{Step: rapid.Int().Draw(t, "step"), Text: words.Draw(t, "text"), Site: model.CallSite{Module: words.Draw(t, "module"), Frames: rapid.SliceOfN(frame, 0, 3).Draw(t, "frames")}}
	})
	change := rapid.Custom(func(t *rapid.T) Change {
		return Change{
			Kind: kinds.Draw(t, "kind"), Regression: rapid.Bool().Draw(t, "regression"), What: words.Draw(t, "what"), Severity: model.Severity(words.Draw(t, "severity")),
			Before: words.Draw(t, "before"), After: words.Draw(t, "after"), Sentence: words.Draw(t, "sentence"), Command: words.Draw(t, "command"),
			Timeline: words.Draw(t, "timeline"), Step: rapid.Int().Draw(t, "step"), File: words.Draw(t, "its file"), Calls: rapid.SliceOfN(call, 0, 3).Draw(t, "calls"),
		}
	})
	row := rapid.Custom(func(t *rapid.T) Row {
		return Row{
			Scenario: words.Draw(t, "scenario"), File: words.Draw(t, "file"), Line: rapid.IntRange(-1, 1000).Draw(t, "line"), Manager: words.Draw(t, "manager"),
			Changes: rapid.SliceOfN(change, 0, 3).Draw(t, "changes"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		o := &Outcome{Rows: rapid.SliceOfN(row, 0, 12).Draw(t, "rows")}
		for range rapid.IntRange(0, 2).Draw(t, "versions") {
			o.Versions = append(o.Versions, Version{words.Draw(t, "manager"), words.Draw(t, "before"), words.Draw(t, "now")})
		}
		xmlHolds(t, o)
		sarifHolds(t, o)
		markdownHolds(t, o)
		annotationsHold(t, o)
	})
}

type failer interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

func xmlHolds(t failer, o *Outcome) {
	var back struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
	}
	text := written(t, "xml", o)
	if err := xml.Unmarshal([]byte(text), &back); err != nil {
		t.Fatalf("not XML: %v\n%s", err, text)
	}
	red := 0
	for i := range o.Rows {
		if o.Rows[i].Red() {
			red++
		}
	}
	if back.Tests != len(o.Rows) || back.Failures+back.Errors != red {
		t.Fatalf("%d tests, %d failures and %d errors of %d rows, %d of them red", back.Tests, back.Failures, back.Errors, len(o.Rows), red)
	}
}

func sarifHolds(t failer, o *Outcome) {
	text := written(t, "sarif", o)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := sarifSchema(t).Validate(doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	back, err := sarif.FromString(text, sarif.WithStrictValidation())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range back.Runs[0].Results {
		f := r.PartialFingerprints["ipamsim/v1"]
		if seen[f] {
			t.Fatalf("two results have the fingerprint %s\n%s", f, text)
		}
		seen[f] = true
		if rule := back.Runs[0].Tool.Driver.Rules[r.RuleIndex]; *rule.ID != *r.RuleID {
			t.Fatalf("a result of %s points at the rule %s", *r.RuleID, *rule.ID)
		}
	}
}

var (
	ours = regexp.MustCompile(`</?(details|summary|code|pre|p|b)>|<br>`)
	pre  = regexp.MustCompile(`(?s)<pre>.*?</pre>`)
)

func markdownHolds(t failer, o *Outcome) {
	text := written(t, "md", o)
	if len(text) > markdownMax || !utf8.ValidString(text) {
		t.Fatalf("%d bytes, valid: %v", len(text), utf8.ValidString(text))
	}
	for block := range strings.SplitSeq(pre.ReplaceAllString(text, ""), "\n\n") {
		markup := "<>`[\\@_*"
		if strings.HasPrefix(strings.TrimSpace(block), "<") {
			markup = "<>" // a block of HTML, in which Markdown looks for nothing
		}
		for _, mark := range []string{"**worse**", "**review**", "**unknown**"} {
			block = strings.ReplaceAll(block, mark, "")
		}
		if strings.ContainsAny(ours.ReplaceAllString(block, ""), markup) {
			t.Fatalf("markup from outside:\n%s\nin\n%s", block, text)
		}
		for l := range strings.Lines(block) {
			if n := strings.Count(l, "|"); markup != "<>" && n != 0 && n != 6 && n != 4 {
				t.Fatalf("a row with other cells than its table: %s", l)
			}
		}
	}
	if strings.ContainsAny(strings.Join(pre.FindAllString(ours.ReplaceAllString(text, ""), -1), ""), "<>") {
		t.Fatalf("markup from outside:\n%s", text)
	}
	open, shut := strings.Count(text, "<details>"), strings.Count(text, "</details>")
	if open != shut {
		t.Fatalf("%d <details>, %d </details>\n%s", open, shut, text)
	}
}

var command = regexp.MustCompile(`^::(error|notice) (file=[^:,]+,line=\d+,)?title=[^:,]+::.+$`)

func annotationsHold(t failer, o *Outcome) {
	text := written(t, "annotations", o)
	kinds := map[string]int{}
	for l := range strings.Lines(text) {
		m := command.FindStringSubmatch(strings.TrimSuffix(l, "\n"))
		if m == nil {
			t.Fatalf("not a command: %q", l)
		}
		kinds[m[1]]++
	}
	for kind, n := range kinds {
		if n > annotationsMax {
			t.Fatalf("%d of %s", n, kind)
		}
	}
}

// TestSummaryIsBounded: GitHub refuses a summary of more than 1 MiB as a whole.
func TestSummaryIsBounded(t *testing.T) {
	o := rich()
	for range 500 {
		o.Rows = append(o.Rows, o.Rows[10])
		o.Rows[len(o.Rows)-1].Changes[0].Timeline = strings.Repeat(hostile+"\n", 1000)
	}
	markdownHolds(t, o)
	if text := written(t, "md", o); !strings.Contains(text, "do not fit here") || !strings.Contains(text, "\nand ") {
		t.Error("nothing says that something is left out")
	}
}
