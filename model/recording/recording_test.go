package recording_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ipamsim/model/recording"
)

// A film of one table: rows that were added, changed and removed, and the table in between.
func ExampleRecorder() {
	r := recording.NewRecorder([]recording.Table{{Name: "claims", Columns: []string{"address", "pod"}}})
	r.Put(0, "10.0.0.1", "10.0.0.1", "web-0")
	r.Cut(0, 0)
	r.Cut(1, time.Second) // nothing changed: no frame
	r.Drop(0, "10.0.0.1")
	r.Put(0, "10.0.0.1", "10.0.0.1", "web-1")
	r.Cut(2, 2*time.Second)
	for _, fr := range r.Recording().Frames {
		fmt.Println(fr.Step, fr.At, fr.Changes)
	}
	fmt.Println(r.Recording().At(1))
	// Output:
	// 0 0s [{0 10.0.0.1 [10.0.0.1 web-0]}]
	// 2 2s [{0 10.0.0.1 [10.0.0.1 web-1]}]
	// [map[10.0.0.1:[10.0.0.1 web-0]]]
}

// For every history of a list, the film shows it at every step as it was then, contains no
// unchanged rows, and passes its own check.
func TestFollowedListIsAsItWasAtEveryStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type item struct {
			key  string
			cell string
		}
		r := recording.NewRecorder([]recording.Table{{Name: "t", Columns: []string{"cell"}}})
		f := recording.Follow[item]{
			Same: func(a, b *item) bool { return *a == *b },
			Rows: func(v *item, put func(string, ...string)) { put(v.key, v.cell) },
		}
		lists := rapid.SliceOfN(rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) item {
			return item{rapid.StringMatching("[a-f]").Draw(t, "key"), rapid.StringMatching("[xy]").Draw(t, "cell")}
		}), 0, 6, func(i item) string { return i.key }), 1, 12).Draw(t, "lists")
		step := make([]int, len(lists))
		for i, list := range lists {
			f.Update(r, 0, list)
			if i > 0 {
				step[i] = step[i-1] + rapid.IntRange(0, 2).Draw(t, "steps")
			}
			r.Cut(step[i], time.Duration(step[i]))
		}
		if err := r.Recording().Check(); err != nil {
			t.Fatal(err)
		}
		for i, list := range lists {
			if i+1 < len(lists) && step[i+1] == step[i] {
				continue // the last state of a step is shown
			}
			want := map[string][]string{}
			for _, x := range list {
				want[x.key] = []string{x.cell}
			}
			if d := cmp.Diff(recording.Snapshot{want}, r.Recording().At(step[i])); d != "" {
				t.Fatalf("at step %d: -want +got:\n%s", step[i], d)
			}
		}
		if len(slices.Compact(step)) < len(step) {
			return // the frame of a step with two cuts may contain the state before the first cut
		}
		for _, fr := range r.Recording().Frames {
			for _, c := range fr.Changes {
				if slices.Equal(r.Recording().At(fr.Step - 1)[0][c.Key], c.Row) {
					t.Fatalf("frame of step %d says what was so before: %v", fr.Step, c)
				}
			}
		}
	})
}

// An invalid film from a file is refused with its error.
func TestCheck(t *testing.T) {
	table := []recording.Table{{Name: "t", Columns: []string{"a", "b"}}}
	for want, frames := range map[string][]recording.Frame{
		"":                        {{Step: 0}, {Step: 1, Changes: []recording.Change{{Key: "k", Row: []string{"1", "2"}}, {Key: "l"}}}},
		"want later ones":         {{Step: 1}, {Step: 1}},
		"want later ones than":    {{Step: 1, At: -1}},
		"no table 1":              {{Changes: []recording.Change{{Table: 1}}}},
		"no table -1":             {{Changes: []recording.Change{{Table: -1}}}},
		"want 2 cells, have 1":    {{Changes: []recording.Change{{Row: []string{"1"}}}}},
		"frame 0: a row of t: wa": {{Changes: []recording.Change{{Row: []string{}}}}},
	} {
		f := recording.Recording{Tables: table, Frames: frames}
		err := f.Check()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", frames, err, want)
		}
	}
}
