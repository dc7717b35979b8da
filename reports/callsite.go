package reports

import (
	"ipamsim/model"
	"ipamsim/sim"
)

// CallSite returns the place in the address manager's code that sent the message of a step; the
// zero value if it is unknown or elsewhere.
func (r *Report) CallSite(s *sim.Step) model.CallSite {
	if r.Sites == nil || s == nil || len(s.Stack) == 0 {
		return model.CallSite{}
	}
	return r.Sites(s.Stack)
}
