package coverage

import (
	"hash/fnv"
	"math/bits"
	"os"
	"strings"

	"ipamsim/fuzz/shape"
	"ipamsim/reports"
	"ipamsim/sim"
)

func hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p + "\n"))
	}
	return h.Sum64()
}

// Counted are the features of a run by how often.
func Counted(rep *reports.Report, signals string) map[uint64]int {
	out := map[uint64]int{}
	add := func(letter string, h uint64, n int) {
		if strings.Contains(signals, letter) {
			out[h] = max(out[h], 1)
		}
		if strings.Contains(signals, strings.ToUpper(letter)) {
			out[h] = max(out[h], n)
		}
	}
	for _, s := range rep.States {
		add("s", s, 1)
	}
	for p, n := range meetings(rep.Trace) {
		add("p", p, n)
	}
	answers, windows := map[uint64]int{}, map[uint64]int{}
	type open struct {
		at    int
		shape string
	}
	last := map[sim.ActorID]open{}
	type wr struct {
		actor sim.ActorID
		kind  string
		shape string
	}
	var writes []wr
	for _, s := range rep.Trace.Steps {
		op := s.Choice.Op
		sh := shape.Op(op)
		note, _, _ := strings.Cut(s.Note, " ")
		answers[hash("a", sh, s.Choice.Outcome.String(), note)]++
		object := shape.Object(op)
		if object == "" || op.Kind == sim.Local || op.Kind == sim.Watch || op.Kind == sim.Event {
			continue
		}
		if l, ok := last[op.Actor]; ok {
			between := map[string]int{}
			for _, w := range writes[l.at:] {
				if w.actor != op.Actor {
					between[w.shape]++
				}
			}
			for c, n := range between {
				h := hash("w", l.shape, c, sh)
				windows[h] = max(windows[h], n)
			}
		}
		if op.Kind == sim.Write && strings.HasPrefix(s.Note, "20") {
			writes = append(writes, wr{op.Actor, shape.Kind(object), sh})
		}
		last[op.Actor] = open{len(writes), sh}
	}
	for h, n := range answers {
		add("a", h, n)
	}
	for h, n := range windows {
		add("w", h, n)
	}
	return out
}

// LightAs is for experiments.
func LightAs(rep *reports.Report) {
	signals := os.Getenv("FEEDBACK")
	var up [len(lamps)]uint8
	for h, n := range Counted(rep, signals) {
		l := &up[h%uint64(len(lamps))]
		*l = max(*l, 1<<(min(bits.Len(uint(n)), levels)-1))
	}
	for i, n := range up {
		for range n {
			lamps[i]()
		}
	}
}
