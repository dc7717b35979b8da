package known_test

import (
	"os"
	"path/filepath"
	"testing"

	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/known"
	"ipamsim/model/invariant"
)

// A failure without a fault does not match a known cause that needs one: a regression that counts a
// handle twice is new, though a lost reply is known to have that effect.
func TestWhatNeedsAFault(t *testing.T) {
	counts := func(faulted bool) *cause.Cause {
		return &cause.Cause{Invariant: invariant.HandleCount.Name, Code: invariant.CountedTooMany, Faulted: faulted, Links: []cause.Link{
			{Role: cause.Wrote, Process: "cni-add", Resource: "ipamhandles", Outcome: "counted", Functions: []string{"updateHandle", "AutoAssign"}},
		}}
	}
	for _, tt := range []struct{ listed, plain, faulted bool }{{listed: true, faulted: true}, {listed: false, plain: true, faulted: true}} {
		k, err := known.Parse("list", known.Line(counts(tt.listed), "seen: once"))
		if err != nil {
			t.Fatal(err)
		}
		if got := k.Find(counts(false)) != ""; got != tt.plain {
			t.Errorf("listed %t: without a fault it looks known: %t", tt.listed, got)
		}
		if got := k.Find(counts(true)) != ""; got != tt.faulted {
			t.Errorf("listed %t: with a fault it looks known: %t", tt.listed, got)
		}
		for _, faulted := range []bool{false, true} {
			if got := k.Cause(counts(faulted)) != ""; got != (faulted || tt.plain) {
				t.Errorf("listed %t, faulted %t: it is known: %t", tt.listed, faulted, got)
			}
		}
	}
}

// If several managers' lists have a cause, the first list counts: a campaign loads the list of its own
// manager first.
func TestOwnListFirst(t *testing.T) {
	dir := t.TempDir()
	for _, list := range []string{"own", "other"} {
		if err := os.WriteFile(filepath.Join(dir, list), []byte("a, b |  | scenarios: of-"+list+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k, err := known.Load(dir, "own", "other")
	if err != nil {
		t.Fatal(err)
	}
	k.Each(func(_, what string) {
		if what != "scenarios: of-own" {
			t.Errorf("%s, want what the first list says", what)
		}
	})
}
