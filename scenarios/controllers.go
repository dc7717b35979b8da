package scenarios

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/cluster/control"
)

// realControllers is how a scenario asks for Kubernetes' own controllers.
const realControllers = "real"

// realSet makes Kubernetes' own controllers in a run; nil: this program has none.
var realSet func(control.Env) control.Set

// UseRealControllers says that this program has Kubernetes' own controllers, for scenarios
// that ask for them. A program says so once, before anything else (cmd/controllers); this
// package does not link them.
func UseRealControllers(open func(control.Env) control.Set) { realSet = open }

// WithRealControllers is the scenario with Kubernetes' own controllers, without a recorded
// run and what is expected of it; nil: it has them already, or this program does not.
//
// They cannot be told to evict or collect pods earlier: where they were, the script ends as
// much later.
func (s *Scenario) WithRealControllers() *Scenario {
	if realSet == nil || s.Doc.Spec.Controllers == realControllers {
		return nil
	}
	out := *s
	spec := &out.Doc.Spec
	spec.Controllers, spec.Schedule, spec.Expect = realControllers, nil, nil
	if t := &spec.Timers; t.Toleration.Duration+t.PodGC.Duration > 0 {
		t.Toleration, t.PodGC = metav1.Duration{}, metav1.Duration{}
		spec.Until.Duration += evictedAfter
	}
	return &out
}

// evictedAfter: pods on a silent node are evicted five minutes after it is unreachable.
const evictedAfter = 6 * time.Minute

// controllers makes those of a run; nil: the simple ones.
func (s *Scenario) controllers() func(control.Env) control.Set {
	if s.Doc.Spec.Controllers != realControllers {
		return nil
	}
	return realSet
}

// controllers checks that the program has the controllers that are asked for, and that
// nothing is said of them that they cannot do.
func (l *loader) controllers(c *check) {
	s := l.s.Doc.Spec
	if s.Controllers != realControllers {
		return
	}
	c.bad(realSet == nil, at("spec", "controllers"), "this program does not have Kubernetes' own controllers, want simple")
	c.bad(s.Timers.Toleration.Duration != 0, at("spec", "timers", "toleration"), "Kubernetes' own controllers have no such setting: give pods a toleration with tolerationSeconds")
	c.bad(s.Timers.PodGC.Duration != 0, at("spec", "timers", "podGC"), "Kubernetes' own controllers have no such setting, remove it")
}
