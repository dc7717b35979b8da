package space

import (
	"slices"
	"time"

	"ipamsim/scenarios"
)

// Hazards draws failures of machines and processes: none in three of five worlds, otherwise up to two, of
// all kinds that this cluster can have, or of one or two kinds (swarm).
func (w *World) Hazards() {
	h := scenarios.Hazards{Max: Pick(w.Choices, 0, 1, 0, 2, 0)}
	if h.Max == 0 {
		return
	}
	if w.Chance(1, 3) {
		h.Max++
	}
	if w.Chance(1, 2) {
		h.Kinds = []string{Pick(w.Choices, machineHazards...)}
		if second := Pick(w.Choices, machineHazards...); second != h.Kinds[0] {
			h.Kinds = append(h.Kinds, second)
		}
	}
	h.From, h.Until = Millis(w.soon()), Millis(w.Until)
	h.For = Millis(w.Duration(500*time.Millisecond, 20*time.Second))
	w.Doc.Spec.Hazards = h
}

// pluginHazard also lets plugins of the pods' networks fail, in one of four worlds with hazards and pods.
func (w *World) pluginHazard() {
	h := &w.Doc.Spec.Hazards
	if h.Max == 0 || len(w.loads) == 0 || !w.Plugins().Chance(1, 4) {
		return
	}
	if len(h.Kinds) == 0 { // all kinds, which the loader would set
		h.Kinds = slices.Clone(machineHazards)
	}
	h.Kinds = append(h.Kinds, "plugin")
}

// machineHazards are the kinds that every cluster can have.
var machineHazards = []string{"kill", "pause", "partition", "crash", "reboot", "pauseNode", "replace"}
