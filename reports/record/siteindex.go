package record

import (
	"fmt"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/sim"
)

// siteIndex numbers the call sites of a run from 1, in order.
type siteIndex struct {
	r     *reports.Report
	all   []model.CallSite
	known map[*uintptr]int // by stack; equal stacks share a pointer
	texts map[string]int   // by text: two stacks may differ in frames outside upstream
}

// of is 0 for a message whose call site is not known.
func (x *siteIndex) of(s *sim.Step) int {
	if len(s.Stack) == 0 {
		return 0
	}
	if x.known == nil {
		x.known, x.texts = map[*uintptr]int{}, map[string]int{}
	}
	n, ok := x.known[&s.Stack[0]]
	if !ok {
		if c := x.r.CallSite(s); c.Known() {
			text := fmt.Sprint(c.Module, c.Informer, c.Frames)
			if n = x.texts[text]; n == 0 {
				x.all = append(x.all, c)
				n = len(x.all)
				x.texts[text] = n
			}
		}
		x.known[&s.Stack[0]] = n
	}
	return n
}
