package formats

import (
	"bytes"
	"strings"
	"testing"

	"ipamsim/reports/storytest"
)

func TestTraceIsReadBack(t *testing.T) {
	r := storytest.Issue162()
	var b bytes.Buffer
	for range 2 {
		if err := Trace(&b, r); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := ParseTrace(&b)
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
	if _, err := ParseTrace(strings.NewReader(traceHead + "\nnonsense\n")); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
		t.Errorf("error %v, want one that names line 2", err)
	}
}
