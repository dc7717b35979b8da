package trackrecord_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"ipamsim/reports/bench"
	"ipamsim/reports/golden"
	"ipamsim/reports/trackrecord"
)

func all(t *testing.T) []trackrecord.Component {
	t.Helper()
	out, err := trackrecord.All()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Every row has all its columns, no scenario has two rows, and each issue text is of
// one row.
func TestColumns(t *testing.T) {
	seen, issues := map[string]bool{}, map[string]bool{}
	for _, c := range all(t) {
		for _, p := range c.Problems() {
			t.Error(p)
		}
		for _, r := range c.Rows {
			if seen[r.Scenario] {
				t.Errorf("%s: %s has two rows", c.Name, r.Scenario)
			}
			seen[r.Scenario] = true
			if r.Issue != "" {
				issues[r.Issue] = true
			}
		}
	}
	var have []string
	texts, err := os.ReadDir("issues")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		have = append(have, text.Name())
	}
	if want := slices.Sorted(maps.Keys(issues)); !slices.Equal(have, want) {
		t.Errorf("issues has %q, the rows name %q", have, want)
	}
}

// A row that lacks a column is reported, one that has all of them is not.
func TestProblems(t *testing.T) {
	code := trackrecord.Code{Version: "0.9.4", Link: "https://a", Date: "2026-01-01"}
	whole := func() trackrecord.Row {
		return trackrecord.Row{
			Scenario: "a", What: "b", Violated: []string{"c"}, First: "0.1", Fixed: trackrecord.Fix{Open: &code},
			Searched: &trackrecord.Search{Query: "d", Date: "2026-01-01"}, Datastore: "etcdv3", Premise: "e", Likelihood: "f",
		}
	}
	for want, spoil := range map[string]func(*trackrecord.Row){
		"":                                 func(*trackrecord.Row) {},
		"scenario is required":             func(r *trackrecord.Row) { r.Scenario = "" },
		"what is required":                 func(r *trackrecord.Row) { r.What = "" },
		"one of violated and unjudged":     func(r *trackrecord.Row) { r.Violated = nil },
		"first is required":                func(r *trackrecord.Row) { r.First = "" },
		"fixed requires one of":            func(r *trackrecord.Row) { r.Fixed.Design = "g" },
		"fixed.release requires commit":    func(r *trackrecord.Row) { r.Fixed = trackrecord.Fix{Release: "1.0"} },
		"fixed.open requires version":      func(r *trackrecord.Row) { r.Fixed.Open = &trackrecord.Code{Version: "1.0"} },
		"one of known and searched":        func(r *trackrecord.Row) { r.Searched = nil },
		"known names no link":              func(r *trackrecord.Row) { r.Searched, r.Known = nil, "#162" },
		"searched requires query and date": func(r *trackrecord.Row) { r.Searched.Date = "yesterday" },
		"datastore is required":            func(r *trackrecord.Row) { r.Datastore = "" },
		"premise is required":              func(r *trackrecord.Row) { r.Premise = "" },
		"likelihood is required":           func(r *trackrecord.Row) { r.Likelihood = "" },
		"confirmed requires version, command": func(r *trackrecord.Row) {
			r.Confirmed = &trackrecord.Confirmation{}
			r.Fixed = trackrecord.Fix{Release: "1", Commit: "[a](https://b)"}
		},
		"confirmed requires fixed.release": func(r *trackrecord.Row) {
			r.Confirmed = &trackrecord.Confirmation{Version: "1", Command: "c", Runs: "0 of 7", Date: "2026-01-01"}
		},
	} {
		r := whole()
		spoil(&r)
		c := trackrecord.Component{
			Name: "a", Version: "1", Datastores: []string{"etcdv3", "kubernetes"}, Newest: code,
			Where: "issues", Rows: []trackrecord.Row{r},
		}
		got := strings.Join(c.Problems(), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("have %q, want %q", got, want)
		}
	}
}

// The tables of reports/README.md and of the front page are those of the data. With
// -update they are rewritten.
func TestPages(t *testing.T) {
	components := all(t)
	parts := map[string]string{"count": trackrecord.CountOf(components).Sentence()}
	for _, c := range components {
		parts[c.Name] = c.Table()
	}
	render(t, "../README.md", parts)
	render(t, "../../README.md", map[string]string{"front": trackrecord.Front(components)})
}

func render(t *testing.T, file string, parts map[string]string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := bench.Fill(string(b), parts)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	golden.Check(t, file, text)
}

func ExampleByScenario() {
	rows, err := trackrecord.ByScenario()
	if err != nil {
		fmt.Println(err)
		return
	}
	r := rows["r1-whereabouts-162"]
	fmt.Println(r.Upstream)
	fmt.Println(r.KnownAs())
	fmt.Println(r.Command())
	// Output:
	// whereabouts 0.9.4
	// [#162](https://github.com/k8snetworkplumbingwg/whereabouts/issues/162): closed by 0.5.1, back since 0.6.3
	// ipamsim run scenarios/r1-whereabouts-162.yaml
}
