package index_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/formats"
	"ipamsim/reports/index"
)

// What is drawn from findings.json is the table that the campaign drew itself.
func TestReadFindings(t *testing.T) {
	c := campaign()
	c.Findings, c.Dir = c.Findings[:3], "over/there"
	text, err := json.Marshal(c.Findings)
	if err != nil {
		t.Fatal(err)
	}
	x, err := index.ReadFindings(bytes.NewReader(text), c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := drawn(t, x), drawn(t, c.Index()); cutTable(got) != cutTable(want) {
		t.Errorf("%s\nwant\n%s", cutTable(got), cutTable(want))
	}
	if !strings.Contains(drawn(t, x), `href="over/there/c59c478e931e.html"`) {
		t.Error("the links do not lead to where the findings are")
	}
}

func drawn(t *testing.T, x *index.Index) string {
	t.Helper()
	var b bytes.Buffer
	if err := index.Write(&b, x); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func cutTable(page string) string {
	_, rest, _ := strings.Cut(page, "<tbody")
	body, _, _ := strings.Cut(rest, "</tbody>")
	return body
}

// The lines of --json say of a run what its report does, but for its page.
func TestReadRuns(t *testing.T) {
	var lines bytes.Buffer
	want := &index.Library{}
	for seed := range uint64(3) {
		r := &reports.Report{
			Scenario: "r1-whereabouts-162", Title: hostile, File: "r1.yaml", Upstream: "github.com/k8snetworkplumbingwg/whereabouts@v0.9.4",
			Seed: seed, Strategy: "pct", Store: "memory", Datastore: "etcdv3", Verdict: reports.Pass, Virtual: 90 * time.Second, Wall: 1500 * time.Millisecond, Calls: 12,
		}
		if seed == 1 {
			r.Verdict, r.Violations = reports.Fail, []model.Violation{
				{Invariant: "leaked-claim", Severity: model.Minor, Message: "it leaks"}, {Invariant: "duplicate-address", Severity: model.Critical, Message: hostile},
				{Invariant: "double-claim", Severity: model.Critical, Message: "later"},
			}
		}
		if seed == 2 {
			r.Verdict, r.Reason = reports.Unknown, "step limit reached"
		}
		line, err := formats.JSON(r)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
		want.Add(index.RunOf(r))
	}
	got, err := index.ReadRuns(&lines)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for name, l := range map[string]*index.Library{"got": got, "want": want} {
		x, err := l.Index()
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = drawn(t, x)
	}
	if pages["got"] != pages["want"] {
		t.Errorf("%s\nwant\n%s", pages["got"], pages["want"])
	}
}

// A file that is none of ours is refused with the place where that shows.
func TestReadBad(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "no run in it",
		"\n\n":                           "no run in it",
		`{"scenario":1}`:                 "line 1: scenario: want string, have number",
		`{"verdict":"pass"}`:             "line 1: scenario: missing",
		`{"scenario":"a","verdict":"x"}`: `line 1: verdict: want pass, fail or unknown, have "x"`,
		`{"scenario":"a","verdict":"pass","steps":-1}`:          "line 1: steps",
		"{\"scenario\":\"a\",\"verdict\":\"pass\"}\nnot at all": "line 2: no JSON: at byte",
		"{\"scenario\":\"" + strings.Repeat("a", 65<<20):        "line 1: want at most 64 MiB, have more",
	} {
		_, err := index.ReadRuns(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		`{}`:                               "want []index.Finding, have object",
		`[{"fingerprint":"../../../etc"}]`: "finding 1: fingerprint: want 12 hexadecimal digits",
		`[{"fingerprint":"0123456789ab","file":"../x.yaml"}]`:                "finding 1: file: want the name of a file beside this one",
		`[{"fingerprint":"0123456789ab","history":"https://example.org/x"}]`: "finding 1: history: want",
		strings.Repeat(" ", 65<<20):                                          "want at most 64 MiB, have more",
	} {
		_, err := index.ReadFindings(strings.NewReader(text), ".")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}

func BenchmarkCampaign(b *testing.B) {
	c := campaign()
	for len(c.Series) < 500 {
		c.Series = append(c.Series, index.Sample{At: time.Duration(len(c.Series)) * 2500 * time.Millisecond, Runs: uint64(len(c.Series) * 32), States: len(c.Series) * 100})
	}
	for range b.N {
		var w bytes.Buffer
		if err := index.Write(&w, c.Index()); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(w.Len()), "bytes")
	}
}
