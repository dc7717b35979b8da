package record

import (
	"fmt"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/timeline"
)

// reachTurns adds to the story of an address that a node cannot reach the steps at
// which it was lost, was lost for another reason, and was reached again, as the film
// shows them.
func reachTurns(rec *Record) {
	t := rec.Recording.Table("reach")
	if t < 0 {
		return
	}
	column := func(name string) int { return slices.Index(rec.Recording.Tables[t].Columns, name) }
	from, to, lost, why := column("from"), column("to"), column("addresses"), column("why")
	if min(from, to, lost, why) < 0 {
		return
	}
	for i := range rec.Violations {
		v := &rec.Violations[i]
		addr := model.Named(v.Objects, model.RefAddress)
		if len(v.Turns) == 0 || addr == "" {
			continue
		}
		nodes := rec.nodesOf(v.Objects)
		was := map[string]string{} // by row: why it is lost
		for _, f := range rec.Recording.Frames {
			for _, c := range f.Changes {
				if c.Table != t || f.Step > v.Step {
					continue
				}
				reason := ""
				if c.Row != nil && slices.Contains(strings.FieldsFunc(c.Row[lost], between), addr) && nodes[c.Row[from]] && nodes[c.Row[to]] {
					reason = c.Row[why]
				}
				if reason != was[c.Key] {
					v.Turns = append(v.Turns, timeline.Turn{Step: f.Step, At: f.At, Text: reports.Clean(reachText(addr, was[c.Key], reason, c.Row, from, to))})
				}
				was[c.Key] = reason
			}
		}
		slices.SortStableFunc(v.Turns, func(a, b timeline.Turn) int { return a.Step - b.Step })
	}
}

// nodesOf are the nodes that a violation names, and those on which its pods ran.
func (rec *Record) nodesOf(objects []model.Ref) map[string]bool {
	out := map[string]bool{}
	for _, o := range objects {
		if o.Kind == model.RefNode {
			out[o.Name] = true
		}
	}
	for i := range rec.Events {
		if e := &rec.Events[i]; e.Node != "" && slices.Contains(objects, model.Ref{Kind: model.RefPod, Name: e.Pod}) {
			out[e.Node] = true
		}
	}
	return out
}

func between(r rune) bool { return r == ' ' || r == ',' }

func reachText(addr, was, why string, row []string, from, to int) string {
	switch {
	case why == "":
		return addr + " can be reached again"
	case was == "":
		return fmt.Sprintf("%s cannot reach %s on %s: %s", row[from], addr, row[to], why)
	}
	return fmt.Sprintf("%s still cannot reach %s on %s, now for another reason: %s", row[from], addr, row[to], why)
}
