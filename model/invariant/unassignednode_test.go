package invariant

import (
	"net/netip"
	"testing"
	"time"

	"ipamsim/model"
)

// sliced is a cluster of two nodes with a range of 2^bits slices. node-a got its slice after the
// first view.
func sliced(t *testing.T, bits int, after func(*View)) []model.Violation {
	t.Helper()
	r := model.Range{Prefix: netip.MustParsePrefix("10.0.0.0/24").Masked(), Slice: 24 + bits}
	v := View{
		Truth:    model.Truth{Nodes: map[string]model.Node{"node-a": {Registered: true}, "node-b": {Registered: true}}},
		Networks: []model.Network{{Key: "pods", Ranges: []model.Range{r}, Slice: r.Slice}},
		History:  &model.History{}, Past: &Past{},
	}
	v.Past.Note(v)
	v.Truth.At = time.Second
	v.Record.Pools = []model.Pool{{Name: "a", Node: "node-a", Range: netip.PrefixFrom(r.Prefix.Addr(), r.Slice)}}
	v.Past.Note(v)
	v.Truth.At = time.Hour
	if after != nil {
		after(&v)
	}
	v.Past.Note(v)
	return UnassignedNode.Check(v)
}

func TestUnassignedNode(t *testing.T) {
	found := sliced(t, 1, nil)
	if len(found) != 1 {
		t.Fatalf("%d findings, want node-b's", len(found))
	}
	judgedAs(t, UnassignedNode, found[0].Code)
	if got, want := UnassignedNode.Say(&found[0]), "node-b has been without a slice of 10.0.0.0/24 since 0s, with 1 of 2 free since 0s"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// In a cluster at rest, the slice of a node was given to it; if no node has one, perhaps no
// process assigns any.
func TestUnassignedAtRest(t *testing.T) {
	for pools, want := range []int{0, 1} {
		r := model.Range{Prefix: netip.MustParsePrefix("10.0.0.0/24"), Slice: 25}
		v := View{
			Truth:    model.Truth{Nodes: map[string]model.Node{"node-a": {Registered: true}, "node-b": {Registered: true}}},
			Networks: []model.Network{{Key: "pods", Ranges: []model.Range{r}, Slice: r.Slice}},
			History:  &model.History{}, Past: &Past{},
			Record: model.Snapshot{Pools: []model.Pool{{Name: "a", Node: "node-a", Range: netip.MustParsePrefix("10.0.0.0/25")}}[:pools]},
		}
		v.Past.Note(v)
		v.Past.Rest()
		v.Truth.At = time.Hour
		if got := UnassignedNode.Check(v); len(got) != want {
			t.Errorf("%d slices: %d findings, want %d", pools, len(got), want)
		}
	}
}

// What excuses a manager.
func TestUnassignedNodeIsExcused(t *testing.T) {
	for name, c := range map[string]struct {
		bits  int
		after func(*View)
	}{
		"no slice is free": {0, nil},
		"the rest is excluded": {1, func(v *View) {
			v.Networks[0].Ranges[0].Exclude = []netip.Prefix{netip.MustParsePrefix("10.0.0.128/25")}
		}},
		"it is not registered": {1, func(v *View) { v.Truth.Nodes["node-b"] = model.Node{} }},
		"it has just come":     {1, func(v *View) { v.Truth.Nodes["node-c"] = v.Truth.Nodes["node-b"]; delete(v.Truth.Nodes, "node-b") }},
		"a fault, just now":    {1, func(v *View) { v.History.Add(model.Event{Kind: model.FaultEvent, At: v.Truth.At - time.Minute}) }},
		"it has one": {1, func(v *View) {
			v.Record.Pools = append(v.Record.Pools, model.Pool{Name: "b", Node: "node-b", Range: netip.MustParsePrefix("10.0.0.128/25")})
		}},
	} {
		if found := sliced(t, c.bits, c.after); len(found) > 0 {
			t.Errorf("%s: %s", name, UnassignedNode.Say(&found[0]))
		}
	}
}
