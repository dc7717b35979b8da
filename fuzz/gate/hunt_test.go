package gate

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ipamsim/fuzz/input"
	"ipamsim/scenarios"
)

// TestBehindALook: a failure that looks like a known one is known unless somebody asks for
// what is behind; then its small run tells whether its cause is one that is listed.
func TestBehindALook(t *testing.T) {
	hermeticOnly(t)
	r, err := scenarios.NewRunner()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	lists := t.TempDir()
	know := func(lines string) {
		if err := os.WriteFile(filepath.Join(lists, "whereabouts"), []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &prey{Target: "FuzzWhereabouts", Known: lists}
	found := func() (a *answer, classes []string) {
		if a = hunt(t.Context(), r, p); a.Defect != "" {
			t.Fatal(a.Defect)
		}
		for _, n := range a.News {
			classes = append(classes, n.Class)
		}
		return a, classes
	}
	know("")
	var look string
	for seed := uint64(1); look == ""; seed++ {
		p.World = input.Choices(seed)
		if _, classes := found(); len(classes) == 1 {
			look = classes[0]
		}
	}
	know(look + " | of another cause | seen: x\n")
	if a, classes := found(); len(classes) != 0 || len(a.Behind) != 0 {
		t.Errorf("nobody asked: %q %q", classes, a.Behind)
	}
	p.Behind = true
	a, classes := found()
	if len(classes) != 1 || !slices.Equal(a.Behind, []string{look}) {
		t.Fatalf("%s: %q %q", look, classes, a.Behind)
	}
	know(look + " | of another cause | seen: x\n" + classes[0] + " |  | seen: y\n")
	if a, classes := found(); len(classes) != 0 || len(a.Behind) != 1 {
		t.Errorf("its cause is listed: %q %q", classes, a.Behind)
	}
	know(look + " | of another cause | seen: x\n")
	p.Sated = []string{look}
	if a, classes := found(); len(classes) != 0 || len(a.Behind) != 0 {
		t.Errorf("it was looked at often enough: %q %q", classes, a.Behind)
	}
}

// TestSated: a look is looked behind some times, and then no more.
func TestSated(t *testing.T) {
	b := &bag{behind: map[string]int{}}
	for range behindMax {
		if s := b.sated(); s != nil {
			t.Errorf("too early: %q", s)
		}
		b.add(&task{answer: answer{Behind: []string{"a"}}})
	}
	if s := b.sated(); !slices.Equal(s, []string{"a"}) {
		t.Errorf("%q", s)
	}
}
