package timeline

import (
	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/reports"
	"ipamsim/reports/prose"
	"ipamsim/sim"
	"ipamsim/sim/kube/exchange"
)

// spoken is what every text of package prose passes on its way to a reader. A test makes
// it say something else, to show that nothing goes by the words.
var spoken = reports.Clean

// Words is what a step did as a sentence without its subject, "reads pool … at revision
// 18", and what came of it; its key if there is no more to say.
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

// Said is an entry of the history as a sentence.
func Said(ev *model.Event) string { return spoken(prose.Event(ev)) }
