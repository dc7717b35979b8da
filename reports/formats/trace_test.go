package formats

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"ipamsim/reports/storytest"
	"ipamsim/sim"
)

func TestTraceIsReadBack(t *testing.T) {
	r := storytest.Issue162()
	var b bytes.Buffer
	for range 2 {
		if err := Trace(&b, r); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := parseTrace(&b)
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 2 || runs[1].Seed != "1" || runs[1].Digest != r.Digest || runs[1].Scenario != r.Scenario {
		t.Fatalf("read back %d runs: %+v", len(runs), runs[len(runs)-1])
	}
	for i, s := range r.Trace.Steps {
		if got := runs[1].Steps[i].String(); got != s.String() {
			t.Errorf("step %d read back as %s, want %s", i, got, s)
		}
	}
	if _, err := parseTrace(strings.NewReader(traceHead + "\nnonsense\n")); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
		t.Errorf("error %v, want one that names line 2", err)
	}
}

// recorded is a run read back from a trace file.
type recorded struct {
	Scenario, Upstream, Seed, Strategy, Digest string

	Steps []*sim.Step // without Detail
}

// parseTrace is the inverse of Trace. An error names the line.
func parseTrace(r io.Reader) ([]recorded, error) {
	var out []recorded
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for n := 1; sc.Scan(); n++ {
		line := sc.Text()
		switch {
		case line == traceHead:
			out = append(out, recorded{})
		case line == "":
		case len(out) == 0:
			return nil, fmt.Errorf("line %d: want %q first", n, traceHead)
		case strings.HasPrefix(line, "#"):
			out[len(out)-1].head(line)
		default:
			s, err := sim.ParseStep(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			rec := &out[len(out)-1]
			rec.Steps = append(rec.Steps, s)
		}
	}
	return out, sc.Err()
}

func (rec *recorded) head(line string) {
	name, value, _ := strings.Cut(strings.TrimPrefix(line, "# "), ": ")
	switch name {
	case "scenario":
		rec.Scenario = value
	case "upstream":
		rec.Upstream = value
	case "seed":
		rec.Seed = value
	case "strategy":
		rec.Strategy = value
	case "digest":
		rec.Digest = value
	}
}
