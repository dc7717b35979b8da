package bench_test

import (
	"os"
	"path/filepath"
	"testing"

	"ipamsim/reports/bench"
)

// Each benchmark adds its own figures. A new measurement replaces the old one; its
// goal and the machine stay.
func TestAdd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.json")
	add := func(machine any, name string, value, atMost float64) {
		t.Helper()
		if err := bench.Add(file, map[string]bench.Figure{name: {Value: value, Unit: "ratio", Date: "2026-11-21", AtMost: atMost, Method: "by hand"}}, machine); err != nil {
			t.Fatal(err)
		}
	}
	add(map[string]any{"cpus": 4}, "a", 1, 2.5)
	add(nil, "b", 2, 0)
	add(nil, "a", 3, 0)
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
      "date": "2026-11-21",
      "atMost": 2.5,
      "method": "by hand"
    },
    "b": {
      "value": 2,
      "unit": "ratio",
      "date": "2026-11-21",
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
}

func TestRows(t *testing.T) {
	figures := map[string]bench.Figure{
		"b": {Value: 2390.4, Unit: "1/s", Date: "2026-11-21", AtLeast: 1_000_000, Method: "by hand"},
		"a": {Value: 0.996, Unit: "ratio", AtMost: 1.02, Method: "by hand"},
		"c": {Value: 1. / 3, Unit: "s"},
	}
	const want = `| a | 1.00 | at most 1.02 |  | by hand |
| b | 2,390 1/s | at least 1,000,000, **not met** | 2026-11-21 | by hand |
| c | 0.333 s |  |  |  |
`
	if got := bench.Rows(figures); got != want {
		t.Errorf("have\n%s", got)
	}
}
