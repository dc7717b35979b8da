package timeline

import (
	"time"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/prose"
)

// Turn is a step that contributes to a violation.
type Turn struct {
	Step  int           `json:"step"`
	At    time.Duration `json:"at"`
	Actor string        `json:"actor,omitempty"`
	Text  string        `json:"text"`
	// Races lists the message's parts in the races of the violation.
	Races []model.RaceMark `json:"races,omitempty"`
	// Site is the line of upstream's code that sent the message; nil if unknown or no message.
	Site *model.CallSite `json:"site,omitempty"`
}

// Path returns the steps that led to a violation, the turning points and the reads and
// writes between them, and the races that decide it.
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
			t.Actor = reports.Clean(e.actor)
		}
		turns = append(turns, t)
	}
	return turns, s.races
}

// siteOf returns the call site of an entry, nil if it is unknown.
func siteOf(r *reports.Report, e *entry) *model.CallSite {
	if c := r.CallSite(e.sent); c.Known() {
		return &c
	}
	return nil
}
