package timeline

import (
	"time"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/prose"
)

// Turn is one step on the way to a violation.
type Turn struct {
	Step int           `json:"step"`
	At   time.Duration `json:"at"`
	Who  string        `json:"who,omitempty"`
	Text string        `json:"text"`
	// Races are the message's parts in those of the violation.
	Races []model.RaceMark `json:"races,omitempty"`
	// Site is where in upstream's code the message was sent; nil: not known, or no message.
	Site *model.CallSite `json:"site,omitempty"`
}

// Path are the steps that led to a violation: the turning points, and what was read and
// done on the way to them; and the orders that decide over it.
func Path(r *reports.Report, v *model.Violation) (turns []Turn, races []model.Race) {
	turns = []Turn{}
	s := subjectOf(r, v)
	for _, e := range pick(r, s) {
		if e.weight < glimpse {
			continue
		}
		t := Turn{Step: r.ShownAt(e.step, e.at), At: e.at, Text: e.text, Races: e.races, Site: siteOf(r, e)}
		if e.sign != nil {
			t.Text = spoken(prose.Since(e.sign))
		}
		if !e.fact {
			t.Who = reports.Clean(e.actor)
		}
		turns = append(turns, t)
	}
	return turns, s.races
}

// siteOf is the call site of an entry; nil if there is nothing to say.
func siteOf(r *reports.Report, e *entry) *model.CallSite {
	if c := r.CallSite(e.sent); c.Known() {
		return &c
	}
	return nil
}
