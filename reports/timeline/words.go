package timeline

import (
	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/reports"
	"ipamsim/reports/prose"
	"ipamsim/sim"
	"ipamsim/sim/kube/exchange"
)

// spoken filters every text of package prose. A test replaces it to show that no code
// depends on the wording (Reword).
var spoken = reports.Clean

// Words describes what a step did and its outcome, as a sentence without its subject: "reads
// pool … at revision 18". It returns the step's key if nothing else is known.
func Words(s *sim.Step, a *act.Act) string {
	text := prose.Act(a)
	answer := prose.Answer(&s.Choice, a, text != "")
	if x, ok := s.Detail.(exchange.Exchange); ok && text == "" {
		asked := x.Act()
		text = prose.Asked(&asked)
	}
	if text == "" {
		text = s.Choice.Op.Key
	}
	return spoken(text + answer)
}

// Said describes an event of the history.
func Said(ev *model.Event) string { return spoken(prose.Event(ev)) }
