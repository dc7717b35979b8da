package campaign

import (
	"maps"
	"slices"
	"testing"

	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/finding"
)

// One instance does not settle a signature; a second instance with the same cause does. If its
// cause is another one, that is another finding, and a third instance is requested.
func TestSignatureStaysOpen(t *testing.T) {
	try := func(s *state, seed uint64, fingerprint string) {
		r := &queue.Result{Shard: queue.Shard{Kind: queue.Shrink, Signature: "sig", From: seed}}
		if fingerprint != "" {
			r.Kept = []queue.Kept{{Signature: "sig", Finding: &finding.Finding{Fingerprint: fingerprint}}}
		}
		s.result(r, s.last)
	}
	begin := func(instances int) *state {
		s := newState()
		c := &queue.Class{Count: 1}
		for i := range instances {
			c.Instances = append(c.Instances, queue.Instance{Seed: uint64(i + 1)})
		}
		s.classes["sig"] = c
		return s
	}
	for _, tt := range []struct {
		name      string
		instances int
		causes    []string // of the tried instances; "" if shrinking did not succeed
		doubtful  bool
		next      uint64
		findings  int
	}{
		{"none tried", 3, nil, false, 1, 0},
		{"one", 3, []string{"a"}, true, 2, 1},
		{"two agree", 3, []string{"a", "a"}, false, 3, 1},
		{"two differ", 3, []string{"a", "b"}, true, 3, 2},
		{"the third settles it", 3, []string{"a", "b", "a"}, false, 1, 2},
		{"all were tried", 3, []string{"a", "b", "c"}, false, 1, 3},
		{"the only instance", 1, []string{"a"}, false, 1, 1},
		{"the second came to nothing", 3, []string{"a", ""}, true, 3, 1},
	} {
		s := begin(tt.instances)
		for i, c := range tt.causes {
			try(s, uint64(i+1), c)
		}
		if got := slices.Equal(s.doubtful(), []string{"sig"}); got != tt.doubtful || s.next("sig").Seed != tt.next || len(s.findings) != tt.findings {
			t.Errorf("%s: doubtful %v, next %d, %d findings; want %v, %d, %d", tt.name, got, s.next("sig").Seed, len(s.findings), tt.doubtful, tt.next, tt.findings)
		}
	}
}

// A finding with too many switches to follow is kept until another instance of its signature has
// fewer. It settles nothing.
func TestCrowdedFindingIsReplaced(t *testing.T) {
	s := newState()
	c := &queue.Class{Count: 3}
	for seed := range uint64(3) {
		c.Instances = append(c.Instances, queue.Instance{Seed: seed})
	}
	s.classes["sig"] = c
	for seed, tt := range []struct {
		fingerprint string
		switches    int
		kept        string
		doubtful    bool
	}{
		{"long", 40, "long", true},
		{"shorter", 20, "shorter", true},
		{"small", finding.SwitchesMax, "small", false}, // there are no more instances
	} {
		f := &finding.Finding{Fingerprint: tt.fingerprint, Switches: tt.switches}
		s.result(&queue.Result{
			Shard: queue.Shard{Kind: queue.Shrink, Signature: "sig", From: uint64(seed)}, Kept: []queue.Kept{{Signature: "sig", Finding: f}},
		}, s.last)
		if len(s.findings) != 1 || s.findings[tt.kept] == nil {
			t.Errorf("after %s the findings are %v, want %s alone", tt.fingerprint, slices.Collect(maps.Keys(s.findings)), tt.kept)
		}
		if got := len(s.doubtful()) > 0; got != tt.doubtful {
			t.Errorf("after %s doubtful: %t, want %t", tt.fingerprint, got, tt.doubtful)
		}
	}
	f := &finding.Finding{Fingerprint: "again", Switches: 30}
	s.find(queue.Kept{Signature: "sig", Finding: f})
	if s.findings["again"] != nil {
		t.Error("a crowded one took the place of a small one")
	}
}
