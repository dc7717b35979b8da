package turns

import (
	"strings"
	"testing"
	"time"

	"ipamsim/sim"
)

// Joining turns keeps the order of everything else, and times never decrease.
func TestTurns(t *testing.T) {
	var steps []*sim.Step
	for i, who := range strings.Split("a b a c b a", " ") {
		st := &sim.Step{Decision: sim.Decision{Step: i, At: 9, Choice: sim.Choice{Op: sim.Op{Actor: sim.ActorID(who), Seq: i}}}}
		steps = append(steps, st)
	}
	steps[5].At = 20
	of := Of(steps)
	for _, tt := range []struct {
		joints []int
		up     bool
		want   string
	}{
		{of.Joints, true, "a a a b b c"}, {of.Joints, false, "c b b a a a"}, {of.Joints[:1], true, "a a b c b a"},
		{of.Joints[1:2], true, "a b a a c b"}, {of.Joints[2:], false, "a a c b b a"}, {nil, true, "a b a c b a"},
	} {
		var who []string
		last, at := map[sim.ActorID]int{}, time.Duration(0)
		for _, st := range of.Joined(tt.joints, tt.up) {
			op := st.Choice.Op
			if seq, known := last[op.Actor]; known && seq > op.Seq {
				t.Errorf("%v %t: %s goes back to %d", tt.joints, tt.up, op.Actor, op.Seq)
			}
			if st.At < at {
				t.Errorf("%v %t: %s at %v, after one at %v", tt.joints, tt.up, op.Actor, st.At, at)
			}
			who, last[op.Actor], at = append(who, string(op.Actor)), op.Seq, st.At
		}
		if got := strings.Join(who, " "); got != tt.want {
			t.Errorf("%v %t: %s, want %s", tt.joints, tt.up, got, tt.want)
		}
	}
	if steps[5].At != 20 || steps[1].At != 9 {
		t.Error("the run itself was changed")
	}
}
