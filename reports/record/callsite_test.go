package record

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"ipamsim/reports/storytest"
)

// TestPerfettoSaysWhichLine: so does the slice of each message.
func TestPerfettoSaysWhichLine(t *testing.T) {
	var b bytes.Buffer
	if err := Perfetto(&b, Of(storytest.Sited())); err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []struct {
			Ph, Cat string
			Args    struct {
				Step, Line                     int
				Module, Function, File, Caller string
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &trace); err != nil {
		t.Fatal(err)
	}
	slices := map[int]int{} // with a line, by step
	for _, e := range trace.TraceEvents {
		a := e.Args
		if e.Ph != "X" || a.Line == 0 {
			continue
		}
		slices[a.Step]++
		if a.Step == 82 && (a.Module != "github.com/a/up@v1" || a.Function != "github.com/a/up/store.(*Pool).Update" || a.File != "store/pool.go" || a.Line != 231 || a.Caller != "github.com/a/up/loop.Loop.Free (loop/loop.go:200)") {
			t.Errorf("%+v", a)
		}
	}
	if len(slices) != 5 || slices[82] != 1 {
		t.Errorf("steps with a line: %v", slices)
	}
}

// TestReadRecordRefusesSites: a step cannot name a call site that is not there.
func TestReadRecordRefusesSites(t *testing.T) {
	rec := Of(storytest.Sited())
	rec.Steps[3].Site = 3
	b, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read(bytes.NewReader(b)); err == nil || err.Error() != "steps[3].site: want one of 2, have 3" {
		t.Error(err)
	}
}

// TestRecordSaysWhereItWasSent: each step of upstream's names its call site, of which the
// record has one of each; so do the turns of the story.
func TestRecordSaysWhereItWasSent(t *testing.T) {
	rec := Of(storytest.Sited())
	if len(rec.Sites) != 2 {
		t.Fatalf("%d sites", len(rec.Sites))
	}
	for _, s := range rec.Steps {
		theirs := strings.HasPrefix(s.Actor, "ip-reconciler")
		if theirs != (s.Site > 0) || theirs && (s.Kind == "write") != (rec.Sites[s.Site-1].Frames[0].Line == 231) {
			t.Errorf("%+v", s)
		}
	}
	var said []string
	for _, turn := range rec.Violations[0].Turns {
		if turn.Site != nil {
			said = append(said, turn.Site.String())
		}
	}
	if got := strings.Join(said, "\n"); !strings.Contains(got, "store.(*Client).GetPod (client.go:113), called by loop.Loop.refresh (loop.go:140)") ||
		!strings.Contains(got, "store.(*Pool).Update (pool.go:231), called by loop.Loop.Free (loop.go:200)") {
		t.Errorf("turns:\n%s", got)
	}
}
