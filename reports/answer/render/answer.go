// Package render writes an answer as text for a terminal, as a page, Markdown, CSV and plots.
package render

import "ipamsim/reports/answer"

// Answer is an answer with its plots.
type Answer struct {
	*answer.Answer
}

// Of computes the answer of a plan with its plots. It does not modify the plan; the caller must
// not either while it uses the answer.
func Of(q *answer.Question) *Answer {
	a := &Answer{answer.Of(q)}
	a.Plots = a.plots()
	return a
}
