package model_test

import (
	"testing"

	"ipamsim/model"
)

func refs(texts ...string) (out []model.Ref) {
	for _, t := range texts {
		var r model.Ref
		if err := r.UnmarshalText([]byte(t)); err != nil {
			panic(err)
		}
		out = append(out, r)
	}
	return out
}

// A violation is identified by its objects: the same address between other pods is another
// violation, and so is another kind of violation.
func TestKnown(t *testing.T) {
	known := model.Know([]model.Identity{
		{Invariant: "duplicate-address", Code: "two-sandboxes", Objects: refs("address 10.0.0.1", "pod a/x", "pod a/y")},
		{Invariant: "blackholed-address", Objects: refs("address 10.0.0.7", "pod a/z")},
		{Invariant: "leaked-claim", Objects: refs("address 10.0.0.9")},
	})
	dup := func(code string, objects ...string) model.Violation {
		return model.Violation{Invariant: "duplicate-address", Code: code, Objects: refs(objects...)}
	}
	seen := []model.Violation{
		dup("two-sandboxes", "address 10.0.0.1", "pod a/x", "pod a/y"),
		{Invariant: "blackholed-address", Code: "dropped", Objects: refs("address 10.0.0.7", "node n1", "pod a/z")},
		{Invariant: "blackholed-address", Code: "no-route", Objects: refs("address 10.0.0.7", "node n2", "pod a/z")},
	}
	for i := range seen {
		if !known.Has(&seen[i]) {
			t.Errorf("%v is new", seen[i].Identity())
		}
	}
	for _, v := range []model.Violation{
		dup("stopped-sandbox", "address 10.0.0.1", "pod a/x", "pod a/y"),
		dup("two-sandboxes", "address 10.0.0.1", "pod a/x", "pod a/w"),
		dup("two-sandboxes", "address 10.0.0.2", "pod a/x", "pod a/y"),
		dup("two-sandboxes", "address 10.0.0.1"),
		{Invariant: "leaked-claim", Objects: refs("address 10.0.0.7", "pod a/z")},
	} {
		if known.Has(&v) {
			t.Errorf("%v is known", v.Identity())
		}
	}
	if gone := known.Without(seen); len(gone) != 1 || gone[0].Invariant != "leaked-claim" {
		t.Errorf("not seen: %v; want the leaked claim", gone)
	}
	var none *model.Known
	if none.Has(&seen[0]) || none.Without(seen) != nil {
		t.Error("nil knows something")
	}
	if everything := model.Know([]model.Identity{{Invariant: "duplicate-address"}}); everything.Has(&seen[0]) {
		t.Error("without objects it stands for every duplicate")
	}
}
