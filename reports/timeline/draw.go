package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/reports/prose"
)

// A timeline of few actors has a column for each, which shows how their steps interleave; a
// timeline of many actors is a list. The columns leave most of the line to the text.
const (
	lanesMax     = 4
	lanesWidth   = 44
	laneNameMax  = 20
	actorMax     = 34
	linesPerStep = 2 // longer texts are cut; turning points have one line more
	elidedMin    = 3 // fewer omitted steps than this are not counted
)

// draw renders the entries.
func draw(entries []*entry, s *subject) []string {
	if len(entries) == 0 && s.v.Step <= 1 {
		return []string{fmt.Sprintf("%20s  no step had run: the configuration alone violates the invariant", "")}
	}
	cols := s.lanes(entries)
	gutter := gutterOf(entries)
	head := fmt.Sprintf("%12s %6s  %s", "time", "step", layout.Pad("", gutter))
	if cols == nil {
		head += layout.Pad("actor", actorMax) + " what"
	} else {
		head += strings.Join(cols.names, "  ") + "  r read  w write  x fault  * fact"
	}
	out := []string{head}
	last := s.from
	for _, e := range entries {
		if e.turn == "owned" {
			last = min(last, e.step) // the changes of a block's owner precede the pods
		}
	}
	for i, e := range entries {
		if n := e.step - last - 1; n >= elidedMin && last > 0 {
			out = append(out, elided(n))
		}
		last = max(last, e.step, e.end)
		out = append(out, s.line(e, i, cols, gutter)...)
	}
	if n := s.v.Step - last; n >= elidedMin {
		out = append(out, elided(n))
	}
	return out
}

func elided(steps int) string { return fmt.Sprintf("%20s  … %d other steps …", "", steps) }

// line renders the i-th entry, its text on at most linesPerStep lines.
func (s *subject) line(e *entry, i int, cols *columns, gutter int) []string {
	before := ""
	head := fmt.Sprintf("%12s %6d  %s", layout.Stamp(e.at), e.step, layout.Pad(e.marks(), gutter))
	next := strings.Repeat(" ", utf8.RuneCountInString(head))
	if cols == nil {
		actor := layout.Pad(layout.Cut(s.label(e), actorMax), actorMax) + " "
		head, next = head+actor, next+layout.Pad("", utf8.RuneCountInString(actor))
	} else {
		head, next = head+cols.row(i, e.lane, e.mark)+"  ", next+cols.row(i, laneless, ' ')+"  "
		if !e.fact {
			before = reports.Clean(prose.Process(e.actor))
		}
	}
	if e.weight >= fate && e.turn != "" {
		before = ">>> " + before
	}
	width := layout.Width - utf8.RuneCountInString(head) - 2
	most := linesPerStep
	if e.weight >= fate {
		most++
	}
	text := before + e.text
	if len(layout.Wrap(text, width)) > most && e.brief != "" {
		text = before + e.brief
	}
	out := e.noted(text, width)
	if len(layout.Wrap(text, width)) > most { // a text that fits without its number is not cut
		for n := most * width; len(out) > most; n -= 4 {
			out = e.noted(layout.Cut(before+cmp.Or(e.brief, e.text), n), width)
		}
	}
	for j, t := range out {
		if out[j] = head + t; j > 0 {
			out[j] = next + "  " + t
		}
	}
	return out
}

// shorter returns an act whose lists begin with the objects of the violation: they are why
// the line is shown. ok is false if the lists begin with them already.
func (s *subject) shorter(a act.Act) (short act.Act, ok bool) {
	lists := []*[]act.Thing{&a.Gives, &a.Takes, &a.Passes}
	if a.Thing.Kind == act.Pool && a.Verb != act.List {
		lists = append(lists, &a.Thing.Parts)
	}
	for _, l := range lists {
		if n := slices.IndexFunc(*l, s.concerns); n > 0 {
			*l = append([]act.Thing{{Kind: act.Others, Used: n}}, (*l)[n:]...)
			ok = true
		}
	}
	return a, ok
}

// concerns reports whether t is an address of the violation, or belongs to one of its pods.
func (s *subject) concerns(t act.Thing) bool {
	return t.Kind == act.Address && slices.Contains(s.named[model.RefAddress], t.Name) ||
		t.Owner.Kind == model.RefPod && slices.Contains(s.pods, t.Owner.Name)
}

// label names an actor in the list. For an actor that works for a pod it is the program and
// the pod.
func (s *subject) label(e *entry) string {
	name := reports.Clean(e.actor)
	if (slices.Contains(s.pods, e.lane) || s.isPod[e.lane]) && e.actor != "" {
		pod := reports.Clean(e.lane)
		name = reports.Clean(prose.Process(e.actor)) + pod[strings.LastIndexByte(pod, '/')+1:]
	}
	return name
}

// columns holds the lanes in the order of their first entries.
type columns struct {
	keys, names []string
	first, last []int // entries
}

// lanes returns nil if there are too many actors or their names are too long.
func (s *subject) lanes(entries []*entry) *columns {
	c := &columns{}
	for i, e := range entries {
		if e.lane == laneless {
			continue
		}
		k := slices.Index(c.keys, e.lane)
		if k < 0 {
			k = len(c.keys)
			c.keys, c.first, c.last = append(c.keys, e.lane), append(c.first, i), append(c.last, i)
		}
		c.last[k] = i
	}
	width := 0
	for _, k := range c.keys {
		name := s.laneName(k, c.keys)
		c.names = append(c.names, name)
		n := utf8.RuneCountInString(name)
		if n > laneNameMax {
			return nil
		}
		width += n + 2
	}
	if len(c.keys) == 0 || len(c.keys) > lanesMax || width > lanesWidth {
		return nil
	}
	return c
}

// laneName shortens a key to the pod without its namespace, or the process without its object, if
// that is unique.
func (s *subject) laneName(key string, keys []string) string {
	short := func(k string) string {
		if slices.Contains(s.pods, k) || s.isPod[k] {
			return k[strings.LastIndexByte(k, '/')+1:]
		}
		name, _, _ := strings.Cut(k, "/")
		return name
	}
	for _, k := range keys {
		if k != key && short(k) == short(key) {
			return reports.Clean(key)
		}
	}
	return reports.Clean(short(key))
}

// row draws each lane as a line from its first entry to its last, with the mark in the
// lane of the i-th entry. An event of the whole cluster has no lane.
func (c *columns) row(i int, lane string, mark byte) string {
	cells := make([]string, len(c.keys))
	for k, key := range c.keys {
		n := utf8.RuneCountInString(c.names[k])
		cell := []byte(strings.Repeat(" ", n))
		switch {
		case key == lane:
			cell[n/2] = mark
		case lane == laneless && mark == ' ' && c.last[k] == i:
			// the second line of a lane's last entry
		case i >= c.first[k] && i <= c.last[k]:
			cell[n/2] = '|'
		}
		cells[k] = string(cell)
	}
	return strings.Join(cells, "  ")
}
