// Package linear checks a run from outside: anishathalye/porcupine decides whether the ADDs and
// DELs of the run could have happened one after another on a correct set of addresses. It does not
// depend on datastores or states: only on what the plugins returned, and when.
//
// Source: Herlihy and Wing, Linearizability, 1990; Lowe, Testing for
// linearizability, 2017, which is the search that porcupine does.
package linear

import (
	"net/netip"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"ipamsim/model"
)

// Verdict on a history.
type Verdict string

// A history that could not be decided in time is Unknown, never Linearizable.
const (
	Linearizable    Verdict = "linearizable"
	NotLinearizable Verdict = "not linearizable"
	Unknown         Verdict = "unknown"
)

// Result is the result for one history.
type Result struct {
	Verdict Verdict // the worst of all wires: NotLinearizable, then Unknown
	Wires   []Wire  // the wires that are not Linearizable, sorted by address, then networks
	Checked int     // number of wires

	history *model.History
	shown   []*wire // what Page draws
}

// Wire is one address in networks that share a wire, directly or through another network.
type Wire struct {
	Addr     netip.Addr
	Networks []string // keys, sorted
	Verdict  Verdict
}

// Patience is enough for every history so far: on a machine with eight times the normal load, the
// slowest of some hundred runs took a twentieth of it.
const Patience = time.Second

// Check decides the history of a run. The networks determine which of them share a wire
// (model.SameDomain); a network that is not among them is a wire of its own. Limit is the
// wall-clock time for the whole check.
func Check(h *model.History, networks []model.Network, limit time.Duration) *Result {
	r := &Result{Verdict: Linearizable, history: h}
	end := time.Now().Add(limit)
	all := wires(h, networks)
	for _, w := range all {
		v := w.check(time.Until(end))
		if r.Checked++; v == Linearizable {
			continue
		}
		r.Wires = append(r.Wires, Wire{w.addr, w.keys(), v})
		r.shown = append(r.shown, w)
		if r.Verdict != NotLinearizable {
			r.Verdict = v
		}
	}
	if r.shown == nil {
		r.shown = all
	}
	return r
}

func (w *wire) check(left time.Duration) Verdict {
	if left <= 0 { // porcupine would take it for no limit
		return Unknown
	}
	switch porcupine.CheckOperationsTimeout(set, w.operations(), left) {
	case porcupine.Ok:
		return Linearizable
	case porcupine.Illegal:
		return NotLinearizable
	}
	return Unknown
}

// keys returns the keys of the wire's networks, sorted.
func (w *wire) keys() []string {
	var out []string
	for _, h := range w.holds {
		out = append(out, h.network)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
