package reports

import "ipamsim/model"

// Turns are the turning points of the story that Timeline tells, in order: what
// was handed out, taken away or hurt, each with its subject, on one line.
func Turns(r *Report, v *model.Violation) []string {
	var out []string
	for _, e := range pick(r, subjectOf(r, v)) {
		switch {
		case e.weight < fate || e.turn == "":
		case e.fact:
			out = append(out, e.text)
		default:
			out = append(out, process(e.actor)+e.text)
		}
	}
	return out
}

// Wrap breaks a text into lines of at most width characters, at its spaces.
func Wrap(text string, width int) []string { return wrap(text, width) }
