package reports

import (
	"ipamsim/model"
	"ipamsim/sim"
)

// CallSite is where in the address manager's own code the message of a step was sent;
// the zero value if nobody knows, or if it was not sent there.
func (r *Report) CallSite(s *sim.Step) model.CallSite {
	if r.Sites == nil || s == nil || len(s.Stack) == 0 {
		return model.CallSite{}
	}
	return r.Sites(s.Stack)
}
