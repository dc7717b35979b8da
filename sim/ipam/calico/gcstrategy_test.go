package calico

import (
	"strings"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// hurtOnce is the serial order with one fault: the first message that mentions
// match and can be hurt is.
type hurtOnce struct {
	serial *strategy.Serial
	match  string
	done   bool
}

func (h *hurtOnce) String() string { return "hurt " + h.match }

func (h *hurtOnce) Begin(uint64) bool { h.serial, h.done = strategy.NewSerial(), false; return true }

func (h *hurtOnce) Pick(step int, enabled []sim.Choice) int {
	if !h.done && !sim.Sizing(enabled) {
		for i, c := range enabled {
			if c.Outcome.Fault() && strings.Contains(c.Op.String(), h.match) {
				h.done = true
				return i
			}
		}
	}
	return h.serial.Pick(step, enabled)
}
