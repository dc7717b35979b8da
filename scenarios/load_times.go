package scenarios

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/scenarios/strict"
)

// virtualDefault is how far a run may go in virtual time if limits.virtual is not
// written: sim.Limits has the same.
const virtualDefault = 24 * time.Hour

// samplesMax bounds what is measured: a second of a day.
const samplesMax = 24 * 60 * 60

// times finds what would never come, or never be judged, because the run is over by
// then.
func (l *loader) times(c *check) {
	s := l.s.Doc.Spec
	end := metav1.Duration{Duration: s.Until.Duration + s.Settle.Duration}
	limit, where := s.Limits.Virtual, at("spec", "limits", "virtual")
	if limit.Duration == 0 {
		limit, where = metav1.Duration{Duration: virtualDefault}, at("spec", "until")
	}
	c.bad(end.Duration >= limit.Duration, where,
		"until and settle come to %s, and limits.virtual ends every run at %s, before anything at rest is judged: want it longer", brief(end), brief(limit))
	for i, ch := range s.Churn {
		p := at("spec", "churn", i)
		c.bad(ch.From.Duration >= s.Until.Duration, p.Then("from"), "%s is not before spec.until, %s: no pod would be deleted", brief(ch.From), brief(s.Until))
		c.bad(ch.Until.Duration > end.Duration, p.Then("until"), "%s is after the end of the run, %s", brief(ch.Until), brief(end))
	}
	if every := s.Metrics.Every.Duration; every > 0 {
		c.bad(end.Duration/every > samplesMax, at("spec", "metrics", "every"), "%s gives %d samples in %s, want at most %d", brief(s.Metrics.Every), end.Duration/every, brief(end), samplesMax)
	}
}

// early describes a reference to a node before it exists; "" if there is none.
func (l *loader) early(node string, now time.Duration) string {
	if from := l.arrives[node]; from > now {
		return strict.Quote(node) + " is there from " + brief(metav1.Duration{Duration: from}) + " on only"
	}
	return ""
}
