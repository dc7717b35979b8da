// Package render is an answer as people see it: on a terminal, as a page, as Markdown and
// CSV, and in plots.
package render

import "ipamsim/reports/answer"

// Answer is an answer with its plots.
type Answer struct {
	*answer.Answer
}

// Of is the answer of a plan. The plan is not changed, and must not be while the answer is
// used.
func Of(q *answer.Question) *Answer {
	a := &Answer{answer.Of(q)}
	a.Plots = a.plots()
	return a
}
