package record

import (
	"fmt"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/reports/timeline"
)

// waiting are the pods that have no address when the run ends because their ADDs
// were refused, in the order in which they were refused first. Pods that are gone
// by then wait for nothing.
func waiting(rec *Record) []string {
	refused := map[string]bool{}
	var out []string
	for _, e := range rec.Events {
		if e.Kind == string(model.AddEnd) && e.Pod != "" {
			if refused[e.Pod] = e.Failed; e.Failed && !slices.Contains(out, e.Pod) {
				out = append(out, e.Pod)
			}
		}
	}
	there := func(string) bool { return true }
	if t := rec.Recording.Table("pods"); t >= 0 {
		pods := rec.Recording.At(len(rec.Steps))[t]
		there = func(pod string) bool { return pods[pod] != nil }
	}
	return slices.DeleteFunc(out, func(pod string) bool { return !refused[pod] || !there(pod) })
}

// waitingTurns adds to the story of each violation that pods were refused an
// address before it and never got one: the first time, and how it went on.
func waitingTurns(rec *Record) {
	if len(rec.Waiting) == 0 {
		return
	}
	for i := range rec.Violations {
		v := &rec.Violations[i]
		if len(v.Turns) == 0 {
			continue
		}
		var refused []Event
		for _, e := range rec.Events {
			if e.Kind == string(model.AddEnd) && e.Failed && slices.Contains(rec.Waiting, e.Pod) && e.Step <= v.Step {
				refused = append(refused, e)
			}
		}
		if len(refused) == 0 {
			continue
		}
		first, last := refused[0], refused[len(refused)-1]
		shown := slices.ContainsFunc(v.Turns, func(t timeline.Turn) bool { return t.Step == first.Step && t.Text == first.Text })
		if !shown {
			v.Turns = append(v.Turns, timeline.Turn{Step: first.Step, At: first.At, Text: first.Text})
		}
		if n := len(refused) - 1; n > 0 {
			v.Turns = append(v.Turns, timeline.Turn{Step: last.Step, At: last.At, Text: fmt.Sprintf("refused %d more times until here: no address for %s", n, some(rec.Waiting))})
		}
		slices.SortStableFunc(v.Turns, func(a, b timeline.Turn) int { return a.Step - b.Step })
	}
}

// some names the first few of many.
func some(names []string) string {
	const few = 3
	if len(names) > few {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
	}
	return strings.Join(names, ", ")
}
