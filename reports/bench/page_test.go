package bench_test

import (
	"flag"
	"maps"
	"os"
	"strings"
	"testing"

	"ipamsim/reports/bench"
	"ipamsim/reports/golden"
)

var measured = flag.String("measured", "",
	"with -update: a bench.json whose figures replace those of reports/bench.json")

// TestPages: the tables of the pages are what the recorded results render to. make
// reports writes them.
func TestPages(t *testing.T) {
	if *measured != "" {
		take(t, *measured, "../bench.json")
	}
	var figures bench.Figures
	var verified bench.Verified
	if err := bench.Read("../bench.json", &figures); err != nil {
		t.Fatal(err)
	}
	if err := bench.Read("../verify.json", &verified); err != nil {
		t.Fatal(err)
	}
	for file, tables := range map[string]map[string]string{
		"../BENCH.md":  {"metrics": figures.Table()},
		"../VERIFY.md": verified.Tables(),
	} {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		filled, err := bench.Fill(string(page), tables)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		golden.Check(t, file, filled)
	}
}

// take adds the figures of a measurement to a file; the ladder's stay out.
func take(t *testing.T, from, to string) {
	t.Helper()
	var figures bench.Figures
	if err := bench.Read(from, &figures); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(figures.Metrics, func(name string, _ bench.Figure) bool { return strings.HasPrefix(name, "ladder_") })
	if err := bench.Add(to, figures.Metrics, figures.Machine); err != nil {
		t.Fatal(err)
	}
}

func TestFill(t *testing.T) {
	const page = "# A\n\n<!-- table a -->\nold\n<!-- end -->\n\nafter\n"
	for _, c := range []struct {
		page, table, want string
	}{
		{page, "a", "# A\n\n<!-- table a -->\n\n| a |\n\n<!-- end -->\n\nafter\n"},
		{page, "b", ""}, // unknown
		{"no table\n", "a", ""},
		{"<!-- table a -->\nno end\n", "a", ""},
	} {
		got, err := bench.Fill(c.page, map[string]string{c.table: "| a |\n"})
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q, table %s: have %q, %v", c.page, c.table, got, err)
		}
	}
}
