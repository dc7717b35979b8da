package bench_test

import (
	"os"
	"path/filepath"
	"testing"

	"ipamsim/reports/bench"
)

// Each benchmark adds its own; what is measured again replaces what was, and the
// machine stays.
func TestAdd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.json")
	add := func(machine any, name string, value float64) {
		t.Helper()
		if err := bench.Add(file, map[string]bench.Figure{name: {Value: value, Unit: "ratio", Method: "by hand"}}, machine); err != nil {
			t.Fatal(err)
		}
	}
	add(map[string]any{"cpus": 4}, "a", 1)
	add(nil, "b", 2)
	add(nil, "a", 3)
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "machine": {
    "cpus": 4
  },
  "metrics": {
    "a": {
      "value": 3,
      "unit": "ratio",
      "method": "by hand"
    },
    "b": {
      "value": 2,
      "unit": "ratio",
      "method": "by hand"
    }
  }
}
`
	if string(got) != want {
		t.Errorf("have\n%s", got)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := bench.Add(file, nil, nil); err == nil {
		t.Error("a damaged file was overwritten")
	}
	const rows = "| a | 0.333 1/s | by hand |\n| b | 1e+03 ms | by hand |\n"
	if got := bench.Rows(map[string]bench.Figure{"b": bench.NewFigure(1000, "ms", "by hand"), "a": bench.NewFigure(1./3, "1/s", "by hand")}); got != rows {
		t.Errorf("have\n%s", got)
	}
}
