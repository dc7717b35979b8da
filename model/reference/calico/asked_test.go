package calico

import (
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"ipamsim/model"
)

// Resolving names once gives the same results as passing names to each call, whatever happens to
// the nodes and handles in between, and keeps no unused name.
func TestResolvedIsNamed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "") }
		d := Datastore(draw(2))
		named, resolved := newWorld(d), newWorld(d)
		resolved.asked = map[model.PodRef]*Asked{}
		steps := drawStart(draw)
		for range draw(80) {
			steps = append(steps, drawStep(draw))
		}
		for i, s := range steps {
			if x, y := s(named), s(resolved); x != y {
				rt.Fatalf("step %d: %s, not %s", i, y, x)
			}
			if x, y := named.Snapshot(), resolved.Snapshot(); !reflect.DeepEqual(x, y) {
				rt.Fatalf("after step %d\n%+v\nis not\n%+v", i, y, x)
			}
		}
		for _, k := range resolved.asked {
			resolved.Forget(k)
		}
		if x, y := len(named.handles), len(resolved.handles); x != y {
			rt.Fatalf("%d names of handles, not %d", y, x)
		}
	})
}

// A node that went and came again under its name is another, and is found.
func TestResolvedNodeComesAgain(t *testing.T) {
	a := New(Kubernetes)
	if err := a.CreatePool(histPools[0]); err != nil {
		t.Fatal(err)
	}
	a.SetNode("a", nil)
	k, err := a.Resolve(Request{Node: "a", Handle: "h", V4: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := a.AddAsked(&k, nil); err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		a.DelAsked(&k)
		for block := range a.Blocks() {
			if err := a.releaseAffinity(a.hosts["a"], block.Prefix, true); err != nil {
				t.Fatal(err)
			}
			break
		}
		if err := a.DeleteNode("a"); err != nil {
			t.Fatal(err)
		}
		if _, err := a.AddAsked(&k, nil); !errors.Is(err, ErrNoNode) {
			t.Error(err)
		}
		a.SetNode("a", nil)
	}
}
