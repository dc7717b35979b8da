package strategy_test

import (
	"fmt"
	"testing"

	"ipamsim/sim"
)

// One process is interrupted once, somewhere in its 60 messages, and another sends all of its eight
// messages there. Round robin with one delay does exactly that; in a random walk the two
// interleave.
func TestDelaySmallDeviation(t *testing.T) {
	programs := map[sim.ActorID][]string{}
	for i := range 60 {
		programs["a"] = append(programs["a"], fmt.Sprint("GET ", i))
	}
	for i := range 8 {
		programs["b"] = append(programs["b"], fmt.Sprint("PUT ", i))
	}
	hit := func(order []string) bool {
		first, last := at(order, "b PUT 0"), at(order, "b PUT 7")
		return last-first == 7 && first > 0 && last < len(order)-1
	}
	delay, walk := rate(t, 300, parsed("delay"), programs, hit), rate(t, 300, random, programs, hit)
	t.Logf("delay %.3f, random %.3f", delay, walk)
	if delay < .5 || walk > 0 { // .58; without passing the turn on, by time alone, it is .42
		t.Errorf("delay %.3f, random %.3f: want at least 0.5 and none", delay, walk)
	}
}
