package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ipamsim/fuzz/mutants"
)

// drawable are ten mutants, of folder a those with an even number, of b the others.
func drawable() (*mutants.Set, map[int]bool) {
	set, reached := &mutants.Set{}, map[int]bool{}
	for id := 1; id <= 10; id++ {
		set.Mutants = append(set.Mutants, mutants.Mutant{ID: id, File: []string{"a", "b"}[id%2] + "/x.go", Line: id})
		reached[id] = id != 3
	}
	return set, reached
}

// TestDrawn: the order is the seed's alone; parts take turns, each with as many; what no run
// comes to is not drawn.
func TestDrawn(t *testing.T) {
	set, reached := drawable()
	all := (&settings{seed: 1}).drawn(set, reached, nil)
	if len(all) != 9 || slices.Contains(all, 3) {
		t.Errorf("%v", all)
	}
	if again := (&settings{seed: 1, sample: 4}).drawn(set, reached, nil); !slices.Equal(again, all[:4]) {
		t.Errorf("%v of %v", again, all)
	}
	two := []mutants.Part{{Folders: []string{"a"}}, {Folders: []string{"b"}}}
	some := (&settings{seed: 1, sample: 2}).drawn(set, reached, two)
	var of []string
	for _, id := range some {
		of = append(of, path.Dir(set.Mutants[id-1].File))
	}
	if fmt.Sprint(of) != "[a b a b]" {
		t.Errorf("%v of %v", some, of)
	}
	if picked := (&settings{seed: 1, sample: 2, only: "a/x.go"}).drawn(set, reached, two); len(picked) != 5 {
		t.Errorf("-only leaves %v", picked)
	}
}

// TestJudgeAll: what is done is not judged again, and what is picked is not kept.
func TestJudgeAll(t *testing.T) {
	set, _ := drawable()
	for _, only := range []string{"", "x.go"} {
		kept, judged := filepath.Join(t.TempDir(), "results.jsonl"), []int{}
		err := (&settings{only: only}).judgeAll(set, []int{1, 2, 4}, kept, func(key string) bool { return key == set.Mutants[1].Key() },
			func(m *mutants.Mutant) (result, error) {
				judged = append(judged, m.ID)
				return &mutants.Result{Mutant: m.Key()}, nil
			})
		lines := 0
		if err := eachLine(kept, func(*mutants.Result) { lines++ }); err != nil {
			t.Fatal(err)
		}
		if want := map[string]string{"": "[1 4] 2", "x.go": "[1 2 4] 0"}[only]; err != nil || fmt.Sprint(judged, " ", lines) != want {
			t.Errorf("-only %q: judged %v, kept %d, want %s (%v)", only, judged, lines, want, err)
		}
	}
}

// TestVisit: the marks of a run are the mutants that it comes to.
func TestVisit(t *testing.T) {
	set, _ := drawable()
	ids, err := visit(t.TempDir(), set, func(env string) error {
		_, file, _ := strings.Cut(env, "=")
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		b[2], b[10] = 1, 1
		return os.WriteFile(file, b, 0o666)
	})
	if err != nil || fmt.Sprint(ids) != "[2 10]" {
		t.Errorf("%v %v", ids, err)
	}
}
