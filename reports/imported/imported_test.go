package imported_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/prometheus/common/expfmt"
	promodel "github.com/prometheus/common/model"

	"ipamsim/model"
	"ipamsim/reports/golden"
	"ipamsim/reports/imported"
)

func refs(texts ...string) (out []model.Ref) {
	for _, t := range texts {
		var r model.Ref
		if err := r.UnmarshalText([]byte(t)); err != nil {
			panic(err)
		}
		out = append(out, r)
	}
	return out
}

// yesterday and today differ in one finding each; names in them are hostile.
func yesterday() *imported.Result {
	return &imported.Result{
		Format: imported.Format, Name: "prod", Sources: []string{"dump.yaml"}, Managers: []imported.Manager{{Name: "calico", Datastore: "kubernetes"}},
		Nodes: 2, Pods: 5, Addresses: 4, Verdict: imported.Wrong,
		Findings: []imported.Finding{
			{
				Identity: model.Identity{Invariant: "duplicate-address", Code: "two-sandboxes", Objects: refs("address 10.0.0.1", "pod a/x", "pod a/y")},
				Severity: model.Critical, Message: "10.0.0.1 is held by two live sandboxes", Facts: []model.Fact{model.NewFact("first-node", model.Ref{Kind: model.RefNode, Name: "n"})},
				Places: []imported.Place{{Object: "Pod a/x", File: "dump.yaml", Line: 12}, {Object: "Pod a/y", File: "dump.yaml", Line: 40}},
				Remedy: &imported.Remedy{Check: "ping -c 3 10.0.0.1 on n", Status: imported.Safe, Problem: 1, Cautions: []string{"the pod is down meanwhile"}, Steps: []imported.Step{{Text: "delete a/y", Commands: []string{"kubectl delete pod -n a y"}}}, Seconds: 3, Restarted: []string{"a/y"}},
			},
			{
				Identity: model.Identity{Invariant: "leaked-claim", Code: "sandbox-gone", Objects: refs("address 10.0.0.9", "pod a/gone")},
				Severity: model.Minor, Message: "10.0.0.9 stays claimed", Facts: []model.Fact{}, Places: []imported.Place{},
			},
		},
		Borrowed: []imported.Borrowed{{Address: "10.0.0.3", Node: "n", Owner: "m"}}, Unknown: []string{"no BGPPeers"}, Left: []string{},
		Supposed: []imported.Finding{}, Unjudged: []imported.Unjudged{}, Versions: []imported.Version{{Program: "calico", Found: "v3.26.1", Simulated: "v3.31.0"}},
	}
}

func today() *imported.Result {
	r := yesterday()
	r.Findings[1] = imported.Finding{
		Identity: model.Identity{Invariant: "leaked-claim", Code: "sandbox-gone", Objects: refs("address 10.0.0.8", "pod a/[x](https://evil.example)\x1b[2J")},
		Severity: model.Minor, Message: "10.0.0.8 stays claimed for a/[x](https://evil.example)\x1b[2J", Facts: []model.Fact{}, Places: []imported.Place{{Object: "IPAMBlock b", File: "api.example/apis"}},
	}
	return r
}

func text(t *testing.T, write func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What is stored is read again as it was, and its form is a contract.
func TestJSON(t *testing.T) {
	r := today()
	if err := r.Compare(yesterday()); err != nil {
		t.Fatal(err)
	}
	out := text(t, func(b *bytes.Buffer) error { return imported.JSON(b, r) })
	golden.Check(t, "testdata/result.json", out)
	back, err := imported.Read(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r, back); d != "" {
		t.Errorf("read again (-written +read):\n%s", d)
	}
}

func TestReadRefuses(t *testing.T) {
	good := text(t, func(b *bytes.Buffer) error { return imported.JSON(b, yesterday()) })
	for bad, want := range map[string]string{
		"":                 "unexpected end of input",
		good[:len(good)/2]: "unexpected end of input",
		"{}":               `format: want "ipamsim.dev/import/v1", have ""`,
		"[1]":              "cannot unmarshal array",
		good + good:        "trailing data",
		"apiVersion: v1\n": "invalid character",
		strings.Replace(good, "import/v1", "record/v1", 1):                                    `have "ipamsim.dev/record/v1"`,
		strings.Replace(good, `"severity": "critical"`, `"severity": "bad"`, 1):               "findings[0]: want invariant, severity and objects",
		strings.Replace(good, `"address 10.0.0.1",`, `"10.0.0.1",`, 1):                        `object "10.0.0.1": want KIND NAME`,
		strings.Replace(good, `"invariant": "leaked-claim"`, `"invariant": ""`, 1):            "findings[1]: want invariant",
		strings.Replace(good, `"duplicate-address"`, `"duplicate-address", "objects": []`, 1): "", // the last one counts, as in any JSON
	} {
		_, err := imported.Read(strings.NewReader(bad))
		switch {
		case want == "" && err != nil:
			t.Error(err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")):
			t.Errorf("%.60q: %v, want %s", bad, err, want)
		}
	}
}

// A finding is the same if invariant, code and objects are: another pod's is new.
func TestCompare(t *testing.T) {
	r := today()
	if err := r.Compare(yesterday()); err != nil {
		t.Fatal(err)
	}
	if r.Findings[0].New || !r.Findings[1].New || r.Since.New != 1 || r.Since.Known != 1 || len(r.Since.Gone) != 1 {
		t.Errorf("%+v", r)
	}
	if got, want := r.Since.Text(), "1, 1 as before, 1 no longer found"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if !r.News()(r.Findings[1].Identity) || r.News()(r.Findings[0].Identity) {
		t.Error("news are something else")
	}
	for _, tt := range []struct {
		least   model.Severity
		onlyNew bool
		want    bool
	}{{model.Critical, false, true}, {model.Minor, true, true}, {model.Major, true, false}, {model.Critical, true, false}} {
		if got := r.Worse(tt.least, tt.onlyNew); got != tt.want {
			t.Errorf("worse than %s, only new %t: %t", tt.least, tt.onlyNew, got)
		}
	}
	same := yesterday()
	if err := same.Compare(yesterday()); err != nil || same.Since.Text() != "nothing, 2 as before" {
		t.Errorf("%v, %+v", err, same.Since)
	}
	// What could not have been seen this time is not reported as gone.
	blind := today()
	blind.Unjudged = []imported.Unjudged{{What: []string{"leaked-claim"}, Without: []string{"pods"}}}
	if err := blind.Compare(yesterday()); err != nil || !blind.Since.Gone[0].Unjudged || blind.Since.Text() != "1, 1 as before, 1 that cannot be judged this time" {
		t.Errorf("%v, %+v, %s", err, blind.Since, blind.Since.Text())
	}
	hidden := today()
	hidden.Anonymised = true
	if err := today().Compare(hidden); err == nil {
		t.Error("names that were made up are compared")
	}
}

// The log is valid by OASIS' schema, which the library has; a finding stands where its
// objects stand in the dump; nothing in a name is a link.
func TestSARIF(t *testing.T) {
	r := today()
	if err := r.Compare(yesterday()); err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*imported.Result{"result": r, "first": yesterday(), "healthy": {Format: imported.Format, Name: "x", Verdict: imported.Healthy}} {
		out := text(t, func(b *bytes.Buffer) error { return imported.SARIF(b, r) })
		back, err := sarif.FromString(out, sarif.WithStrictValidation())
		if err != nil {
			t.Fatal(name, err)
		}
		if err := back.Validate(); err != nil {
			t.Error(name, err)
		}
		if strings.Contains(out, "\\u001b") {
			t.Errorf("%s: a name moves a cursor:\n%s", name, out)
		}
		for _, res := range back.Runs[0].Results {
			if strings.Contains(*res.Message.Text, "](") {
				t.Errorf("%s: a name is a link: %s", name, *res.Message.Text)
			}
		}
		if name == "result" {
			golden.Check(t, "testdata/result.sarif", out)
		}
	}
}

// Prometheus' own parser reads the metrics, and every invariant has a sample.
func TestOpenMetrics(t *testing.T) {
	r := today()
	if err := r.Compare(yesterday()); err != nil {
		t.Fatal(err)
	}
	r.Name = "prod \"x\"\n\\"
	out := text(t, func(b *bytes.Buffer) error { return imported.OpenMetrics(b, r) })
	golden.Check(t, "testdata/result.prom", out)
	parser := expfmt.NewTextParser(promodel.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	value := func(name string, labels ...string) (sum float64, n int) {
		for _, m := range families[name].GetMetric() {
			fits := 0
			for _, l := range m.GetLabel() {
				for _, want := range labels {
					if want == l.GetName()+"="+l.GetValue() {
						fits++
					}
				}
			}
			if fits == len(labels) {
				sum, n = sum+m.GetGauge().GetValue(), n+1
			}
		}
		return sum, n
	}
	for _, tt := range []struct {
		want   string
		name   string
		labels []string
	}{
		{"1 in 1", "ipamsim_import_findings", []string{"invariant=duplicate-address", "severity=critical", "import=prod \"x\"\n\\"}},
		{"1 in 1", "ipamsim_import_new_findings", []string{"invariant=leaked-claim"}},
		{"0 in 1", "ipamsim_import_new_findings", []string{"invariant=duplicate-address"}},
		{"0 in 1", "ipamsim_import_findings", []string{"invariant=max-blocks"}},
		{"1 in 1", "ipamsim_import_gone_findings", nil},
		{"1 in 1", "ipamsim_import_verdict", []string{"verdict=wrong"}},
		{"1 in 3", "ipamsim_import_verdict", nil},
		{"5 in 1", "ipamsim_import_pods", nil},
	} {
		if sum, n := value(tt.name, tt.labels...); fmt.Sprintf("%v in %d", sum, n) != tt.want {
			t.Errorf("%s %q: %v in %d, want %s", tt.name, tt.labels, sum, n, tt.want)
		}
	}
	if !strings.HasSuffix(out, "# EOF\n") {
		t.Error("no end")
	}
	raised := today()
	raised.Findings[1].Severity = model.Critical // it keeps pods from starting
	for _, want := range []string{`invariant="leaked-claim",severity="minor"} 0.0`, `invariant="leaked-claim",severity="critical"} 1.0`} {
		if got := text(t, func(b *bytes.Buffer) error { return imported.OpenMetrics(b, raised) }); !strings.Contains(got, want) {
			t.Errorf("no %s", want)
		}
	}
	first := text(t, func(b *bytes.Buffer) error { return imported.OpenMetrics(b, yesterday()) })
	if strings.Contains(first, "new_findings") {
		t.Error("what is new is told without an earlier result")
	}
}
