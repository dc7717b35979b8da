package invariant

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"ipamsim/model"
)

func TestAllIsSortedAndComplete(t *testing.T) {
	kebab := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	severities := []model.Severity{model.Critical, model.Major, model.Minor}
	last := ""
	for _, i := range All() {
		if i.Name <= last {
			t.Errorf("%s after %s: not sorted, or not unique", i.Name, last)
		}
		last = i.Name
		if !kebab.MatchString(i.Name) {
			t.Errorf("%q is not kebab-case", i.Name)
		}
		if !strings.HasSuffix(i.Doc, ".") || strings.Count(i.Doc, ".") != 1 {
			t.Errorf("%s: Doc is not one sentence: %q", i.Name, i.Doc)
		}
		if !slices.Contains(severities, i.Severity) || i.Phase > Quiescent || i.Check == nil {
			t.Errorf("%s is incomplete", i.Name)
		}
	}
	All()[0].Name = "changed"
	if All()[0].Name == "changed" {
		t.Error("callers share one list")
	}
}

// TestCauseRules: an invariant without a cause rule would be explained by the last write,
// which is wrong for most kinds of mistakes.
func TestCauseRules(t *testing.T) {
	for _, i := range All() {
		if i.Cause.Start < FromWrite || i.Cause.Start > FromStatus {
			t.Errorf("%s has no Cause.Start", i.Name)
		}
		if same := i.Cause.Identity.Same; same[0] != "" {
			if other, ok := Named(same[0]); !ok || other.Sentence(same[1]) == "" {
				t.Errorf("%s: Cause.Identity.Same %q is no kind of an invariant", i.Name, same)
			}
		}
		for n, name := range i.Follows {
			if _, ok := Named(name); !ok || name == i.Name || n > 0 && name <= i.Follows[n-1] {
				t.Errorf("%s: Follows %q: not another invariant, or not sorted", i.Name, name)
			}
		}
		if strings.HasSuffix(i.Effect, ".") || strings.HasSuffix(i.Decision, ".") {
			t.Errorf("%s: Effect or Decision ends with a period", i.Name)
		}
	}
}

// Every invariant is found by its name, including the first and the last.
func TestNamed(t *testing.T) {
	for _, i := range All() {
		if got, ok := Named(i.Name); !ok || got.Name != i.Name || AtRest(i.Name) != (i.Phase == Quiescent) {
			t.Errorf("%s: found %v as %q, at rest %v", i.Name, ok, got.Name, AtRest(i.Name))
		}
	}
	if got, ok := Named("no-such-thing"); ok || got.Name != "" || AtRest("no-such-thing") {
		t.Errorf("no-such-thing is %q", got.Name)
	}
}

func TestCalmIsGreen(t *testing.T) {
	for _, i := range All() {
		for _, v := range []*View{calm(), calmBlocks()} {
			for _, f := range i.Check(*v) {
				t.Errorf("%s: false alarm: %s", i.Name, i.Say(&f))
			}
		}
		for _, f := range i.Check(View{}) {
			t.Errorf("%s: alarm on nothing: %s", i.Name, i.Say(&f))
		}
	}
}

// Order and identity must not depend on Go's map order: the same view is checked many times with
// the same result.
func TestChecksAreDeterministic(t *testing.T) {
	for n, v := range []*View{broken(), brokenBlocks()} {
		deterministic(t, n, v)
	}
}

func deterministic(t *testing.T, n int, v *View) {
	for _, i := range All() {
		want := i.Check(*v)
		for range 50 {
			got := i.Check(*v)
			if !slices.EqualFunc(got, want, func(a, b model.Violation) bool {
				return i.Say(&a) == i.Say(&b) && slices.Equal(a.Objects, b.Objects)
			}) {
				t.Fatalf("view %d: %s: %v, then %v", n, i.Name, want, got)
			}
		}
	}
}

// broken has several violations of most invariants.
func broken() *View {
	v := calm()
	for _, n := range []string{"5", "6", "7", "8"} {
		start(v, n, "node-1", "c"+n, netA, "10.0.0.1", "10.0.0.9", "10.1.0.1")
		v.Truth.Pods[web(n+"x")] = model.Pod{Node: "node-2", Phase: "Pending", Networks: []string{netB}}
		busy(v, "b"+n, n+"y", "node-1", n > "6", sec(1))
		claim(v, "10.0.0.0-28", "10.0.0.1"+n, n+"z", "")
		claim(v, "10.0.0.0-27", "10.0.0.1"+n, n+"w", "")
		reserve(v, "10.0.0.2"+n, n)
		v.History.Add(model.Event{Kind: model.ActorPanic, Actor: "cni-" + n, Err: "boom"})
		v.History.Add(model.Event{Kind: model.AddEnd, Pod: web(n), Network: netA, Exhausted: true, MinFree: 1})
	}
	return v
}

// brokenBlocks is broken for a network with blocks.
func brokenBlocks() *View {
	v := calmBlocks()
	for _, n := range []string{"5", "6", "7", "8"} {
		block(v, "10.7."+n+".0/26", "node-"+n, model.Confirmed)
		block(v, "10.7."+n+".0/28", "node-2", model.Confirmed)
		affinity(v, "10.7."+n+".0/26", "node-4", model.Confirmed)
		affinity(v, "10.8."+n+".0/26", "node-4", model.PendingDeletion)
		attach(v, n, "node-3", "10.7.0.7"+n)
		v.Record.Handles[len(v.Record.Handles)-1].Counts[0].Count = 3
		v.Truth.Nodes["node-1"+n] = model.Node{Up: true, Registered: true}
		v.Truth.Pods[web(n+"w")] = model.Pod{Node: "node-1" + n, Phase: "Pending", Networks: []string{netK}}
	}
	return v
}
