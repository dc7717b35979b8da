package cluster

import (
	"testing"
	"time"

	"ipamsim/sim/cluster/turns"
)

// Each node has its own offset in a part of a step, by its number; the first node's is 0.
// Without turns, and for an unknown node, the offset is 0.
func TestSlot(t *testing.T) {
	c := &Cluster{turns: turns.Queue{Step: 16 * time.Minute}, nodes: map[string]*node{"a": {number: 0}, "b": {number: 1}, "c": {number: 2}}}
	for _, x := range []struct {
		node  string
		nodes int
		want  time.Duration
	}{
		{"a", 2, 0}, {"b", 2, 30 * time.Second}, {"c", 2, 0}, {"b", 4, 15 * time.Second}, {"c", 4, 30 * time.Second},
		{"b", 1, 0}, {"b", 0, 0}, {"z", 2, 0},
	} {
		if got := c.slot(x.node, x.nodes); got != x.want {
			t.Errorf("%s of %d: %v, want %v", x.node, x.nodes, got, x.want)
		}
	}
	c.turns.Step = 0
	if got := c.slot("b", 2); got != 0 {
		t.Errorf("without turns: %v", got)
	}
}
