package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/scenarios/strict"
	"ipamsim/sim/cluster/control"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// realControllers is how a scenario asks for Kubernetes' own controllers.
const realControllers = "real"

// realSet makes Kubernetes' own controllers in a run; nil: this program has none. checkPlane
// reports what they would not start with, a *control.BadArg.
var (
	realSet    func(control.Env) control.Set
	checkPlane func(control.Plane) error
)

// UseRealControllers registers Kubernetes' own controllers, for scenarios that request them. A program calls
// it once, before anything else (cmd/controllers); this package does not link them.
func UseRealControllers(open func(control.Env) control.Set, check func(control.Plane) error) {
	realSet, checkPlane = open, check
}

// real reports whether Kubernetes' own controllers run.
func (s *Scenario) real() bool { return s.Controllers() == realControllers }

// WithRealControllers returns the scenario with Kubernetes' own controllers, without its recorded run
// and expectation; nil if it has them already, or this program does not.
//
// Their times of eviction and collection cannot be set: if the scenario set shorter times, its timeline
// ends that much later.
func (s *Scenario) WithRealControllers() *Scenario {
	if realSet == nil || s.real() {
		return nil
	}
	out := s.withControllers(realControllers)
	spec := &out.Doc.Spec
	spec.Schedule, spec.Expect = nil, nil
	if t := &spec.Timers; t.Toleration.Duration+t.PodGC.Duration > 0 {
		t.Toleration, t.PodGC = metav1.Duration{}, metav1.Duration{}
		spec.Until.Duration += evictedAfter
	}
	return out
}

// evictedAfter: pods on a silent node are evicted five minutes after it is unreachable.
const evictedAfter = 6 * time.Minute

// WithSimpleControllers returns the scenario with the simple controllers, for callers that run it hundreds of
// times: they cost a third of Kubernetes' own, and are tested against them (sim/cluster/control). A scenario
// that names its controllers, or needs a feature that the simple ones lack, is returned unchanged.
func (s *Scenario) WithSimpleControllers() *Scenario {
	if s.Doc.Spec.Controllers != "" || s.beyondSimple != nil {
		return s
	}
	return s.withControllers(simpleControllers)
}

// WithControllers is the scenario with the controllers of this name, whatever it says
// itself; as it says itself if the name is "". The error is one line, of what they cannot do.
func (s *Scenario) WithControllers(name string) (*Scenario, error) {
	switch {
	case name == "" || name == s.Controllers():
		return s, nil
	case name == simpleControllers && s.beyondSimple != nil:
		return nil, s.beyondSimple
	case name == simpleControllers:
		return s.withControllers(name), nil
	case name != realControllers:
		return nil, fmt.Errorf("unknown controllers %s, %s", strict.Quote(name), strict.Want(name, []string{realControllers, simpleControllers}))
	case realSet == nil:
		return nil, errNoReal
	}
	out := s.WithRealControllers()
	out.Doc.Spec.Expect = s.Doc.Spec.Expect
	return out, nil
}

var errNoReal = errors.New("this program does not have Kubernetes' own controllers, want simple")

func (s *Scenario) withControllers(name string) *Scenario {
	out := *s
	out.Doc.Spec.Controllers, out.others = name, name != s.Controllers()
	return &out
}

// Controllers returns the controllers that create, bind and delete pods: those of the scenario; by default
// Kubernetes' own if the program has them, but simple for a recorded run, which may be older than this
// default.
func (s *Scenario) Controllers() string {
	switch spec := &s.Doc.Spec; {
	case spec.Controllers != "":
		return spec.Controllers
	case realSet == nil, spec.Schedule != nil:
		return simpleControllers
	}
	return realControllers
}

// controllers makes those of a run; nil: the simple ones.
func (s *Scenario) controllers() func(control.Env) control.Set {
	if !s.real() {
		return nil
	}
	return func(env control.Env) control.Set {
		env.Plane = s.Doc.Spec.ControlPlane
		return realSet(env)
	}
}

// controllers checks that the program has the requested controllers, and that they support their settings.
func (l *loader) controllers(c *check) {
	s := l.s.Doc.Spec
	if !l.s.real() {
		return
	}
	c.bad(realSet == nil, at("spec", "controllers"), "%s", errNoReal)
	c.bad(s.Timers.Toleration.Duration != 0, at("spec", "timers", "toleration"), "Kubernetes' own controllers have no such setting: give pods a toleration with tolerationSeconds, or set controllers: simple")
	c.bad(s.Timers.PodGC.Duration != 0, at("spec", "timers", "podGC"), "Kubernetes' own controllers have no such setting: remove it, or set controllers: simple")
	if realSet != nil {
		l.plane(c, s.ControlPlane, at("spec", "controlPlane"))
	}
	c.bad(s.Timers.NodeMonitorGrace.Duration != 0 && has(s.ControlPlane.ControllerManager, "node-monitor-grace-period"), at("spec", "timers", "nodeMonitorGrace"),
		"spec.controlPlane.controllerManager has --node-monitor-grace-period: want one of them")
}

// replicasMax is how many of a program may run.
const replicasMax = 9

// plane checks how the programs of the control plane run.
func (l *loader) plane(c *check, p control.Plane, where path) {
	c.bad(p.ControllerManager.Replicas < 0 || p.ControllerManager.Replicas > replicasMax, where.Then("controllerManager").Then("replicas"), "want 1 to %d", replicasMax)
	c.bad(p.Scheduler.Replicas < 0 || p.Scheduler.Replicas > replicasMax, where.Then("scheduler").Then("replicas"), "want 1 to %d", replicasMax)
	// The manager's kube-controller-manager would be a candidate for the same Lease.
	another := slices.ContainsFunc(l.ipam.Processes, func(x ipam.Process) bool { return x.Name == "kube-controller-manager" })
	c.bad(another && p.ControllerManager.Replicas > 1, where.Then("controllerManager").Then("replicas"), "%s has a kube-controller-manager of its own here: want 1", l.ipam.Name)
	c.bad(another && has(p.ControllerManager, "leader-elect"), where.Then("controllerManager").Then("extraArgs"), "%s has a kube-controller-manager of its own here: want no leader-elect", l.ipam.Name)
	var g *kube.GateError
	if errors.As(kube.CheckGates(p.FeatureGates), &g) {
		known := ""
		if g.Known != nil {
			known = ", " + strict.Want(g.Name, g.Known)
		}
		c.bad(true, where.Then("featureGates").Then(g.Name), "%s%s", strict.OneLine(g), known)
	}
	err := checkPlane(p)
	if err == nil {
		return
	}
	var b *control.BadArg
	if !errors.As(err, &b) {
		c.bad(true, where, "%s", strict.OneLine(err))
		return
	}
	where = where.Then(b.Component).Then("extraArgs")
	switch {
	case b.Known != nil:
		c.bad(true, where.Then(b.At).Then("name"), "%s, %s", strict.OneLine(b.Err), strict.Want(b.Name, b.Known))
	case b.At >= 0:
		c.bad(true, where.Then(b.At), "%s", strict.OneLine(b.Err))
	default:
		c.bad(true, where, "%s", strict.OneLine(b.Err))
	}
}

// has reports whether a flag is given.
func has(x control.Component, flag string) bool {
	return slices.ContainsFunc(x.ExtraArgs, func(a control.Arg) bool { return a.Name == flag })
}
