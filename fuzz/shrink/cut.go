package shrink

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/scenarios"
)

// bare returns the scenario without the parts that do not affect a replay.
func bare(s *scenarios.Scenario) *scenarios.Scenario {
	b := *s
	spec := &b.Doc.Spec
	spec.Controllers = s.Controllers()
	spec.Title, spec.Story, spec.Import, spec.Strategy, spec.Seed = "", "", scenarios.Import{}, "", nil
	spec.Metrics, spec.Limits = scenarios.Metrics{}, scenarios.Limits{}
	spec.Expect, spec.Schedule = nil, nil
	return &b
}

// cut returns the scenario without what comes after a violation.
func cut(s *scenarios.Scenario, v *model.Violation) *scenarios.Scenario {
	c := *s
	spec := &c.Doc.Spec
	if v.At >= spec.Until.Duration {
		return &c
	}
	end := (v.At + v.At/3).Truncate(time.Second) + time.Second // the violation may occur later in a smaller scenario
	spec.Until = metav1.Duration{Duration: min(end, spec.Until.Duration)}
	spec.Settle = metav1.Duration{}
	spec.Timeline = slices.DeleteFunc(slices.Clone(spec.Timeline), func(e scenarios.Event) bool {
		return e.At.Duration > v.At
	})
	spec.Churn = slices.Clone(spec.Churn)
	for i := range spec.Churn {
		if u := &spec.Churn[i].Until; u.Duration >= spec.Until.Duration {
			*u = metav1.Duration{}
		}
	}
	return &c
}
