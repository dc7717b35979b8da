package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/cli/planning"
	"ipamsim/cmd/managers"
	"ipamsim/fuzz/campaign"
	"ipamsim/model/capacity"
	"ipamsim/scenarios/plan"
)

// twoNodes is a plan that both engines live through.
const twoNodes = `
apiVersion: ipamsim.dev/v1alpha1
kind: Plan
metadata: {name: two}
spec:
  ipam: calico
  horizon: 2h
  repeats: 1
  engine: both
  settings: {pool: 10.0.0.0/26, nodes: 2, podsPerNode: 2}
  axes: [{setting: strictAffinity, values: [false, true]}]
`

// book is the results of twoNodes in a directory.
type book struct {
	*planning.ResultWriter
	dir    string
	points []plan.Point
}

func bookOf(t *testing.T) *book {
	t.Helper()
	p, err := plan.Parse(managers.All(), "two.yaml", []byte(twoNodes), nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return &book{planning.NewResultWriter(dir, p, []byte(twoNodes)), dir, p.Points()}
}

// note the point n, in which there are so many addresses in use.
func (b *book) note(t *testing.T, n, inUse int) {
	t.Helper()
	line, err := json.Marshal(plan.Done{Course: &capacity.Course{
		Exhausted: capacity.Never, Samples: []capacity.Sample{{Size: 64}, {At: 2 * time.Hour, Size: 64, InUse: inUse}},
	}})
	if err == nil {
		err = b.Add(uint64(n), line)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestEnginesDisagree: then something is wrong with one of them, and the answer is
// none.
func TestEnginesDisagree(t *testing.T) {
	for _, x := range []struct {
		real int
		want string
	}{{4, ""}, {5, "strictAffinity true"}} {
		b := bookOf(t)
		for n, p := range b.points {
			inUse := 4
			if p.Engine == plan.Real && p.Cell == 1 {
				inUse = x.real
			}
			b.note(t, n, inUse)
		}
		b.Discard()
		var said bytes.Buffer
		err := planning.Doubts(&said, &campaign.Outcome{}, b.Answer())
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%d in use: %v", x.real, err)
		}
	}
}

// TestAnswerInPlace checks that files of an earlier answer, and temporary files of a process that
// was killed while writing, are removed; other files stay.
func TestAnswerInPlace(t *testing.T) {
	b := bookOf(t)
	for n := range b.points {
		b.note(t, n, 4)
	}
	plots := filepath.Join(b.dir, "plots")
	if err := os.Mkdir(plots, 0o777); err != nil {
		t.Fatal(err)
	}
	theirs := []string{"notes.txt", "notes.tmp1", "plots/notes.txt", "points.jsonl.tmp1"} // process 1 runs
	for _, name := range append([]string{"plots/old.svg", "plots/old.png", "points.jsonl.tmp999999999", "plots/x.svg.tmp999999999"}, theirs...) {
		if err := os.WriteFile(filepath.Join(b.dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	a := b.Answer()
	if err := b.Write(&bytes.Buffer{}, a); err != nil {
		t.Fatal(err)
	}
	want := append([]string{"plan.yaml", "points.jsonl"}, theirs...)
	for _, f := range a.Files() {
		want = append(want, f.Name)
	}
	var have []string
	for _, pattern := range []string{"*.*", "plots/*"} {
		found, _ := filepath.Glob(filepath.Join(b.dir, pattern))
		for _, f := range found {
			name, _ := filepath.Rel(b.dir, f)
			have = append(have, name)
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(have, want) {
		t.Errorf("there is %v, want %v", have, want)
	}
}
