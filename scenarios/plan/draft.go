package plan

import (
	"fmt"
	"maps"
	"time"

	"ipamsim/model/capacity/workload"
	"ipamsim/model/route"
	"ipamsim/scenarios"
)

// Draft is a cell while its settings are read.
type Draft struct {
	Load         workload.Load
	Trouble      workload.Trouble
	Collect      workload.Collect
	RestartEvery time.Duration
	Datastore    string // "": the manager's first
	Topology     string // of the fabric; "": as it is

	plan    *Plan
	values  map[string]any // of the settings that are given, by name
	running int            // pods of the beginning
	nodes   int
	fabric  route.Fabric
}

// Value is that of a setting; ok is false if it is not given. It panics if the values of
// the setting's kind are no T.
func Value[T any](d *Draft, name string) (value T, ok bool) {
	v, ok := d.values[name]
	if ok {
		value = v.(T)
	}
	return value, ok
}

// Given reports whether a setting has a value.
func (d *Draft) Given(name string) bool { _, ok := d.values[name]; return ok }

// Base is the cluster of the plan before its settings.
func (d *Draft) Base() *scenarios.Scenario { return d.plan.base }

// Alone reports whether the plan has no scenario that defines other components.
func (d *Draft) Alone() bool { return d.plan.alone() }

// clone returns an independent copy.
func (d *Draft) clone() *Draft {
	out := *d
	out.values = maps.Clone(d.values)
	return &out
}

// first is what a plan says nothing about: what its scenario has, or upstream's
// defaults.
func (p *Plan) first() *Draft {
	spec := p.base.Doc.Spec
	return &Draft{plan: p, values: map[string]any{}, running: p.running(), fabric: spec.Fabric, Datastore: spec.Datastore, Collect: p.collects()}
}

// put sets a setting. It returns the problem, or "".
func (d *Draft) put(s Setting, v any) string {
	if s.Of != "" && s.Of != d.plan.Manager() {
		return fmt.Sprintf("%s is a setting of %s, and this is a plan for %s", s.Name, s.Of, d.plan.Manager())
	}
	if s.Of == "" {
		if problem := d.plan.manager.Tenants.only(s.Name); problem != "" {
			return problem
		}
	}
	value, ok := s.Read(v)
	if !ok {
		return fmt.Sprintf("want %s", s.Want)
	}
	d.values[s.Name] = value
	if s.Put != nil {
		s.Put(d, value)
	}
	return ""
}

// complete checks what settings mean for each other, and fills in what follows.
func (d *Draft) complete() (name, problem string) {
	t, of := &d.Trouble, d.plan.manager.Tenants
	switch {
	case of != nil && d.Load.Pods == 0:
		return of.Number, "missing, want how many " + of.Resource + " there are"
	case d.Load.Pods == 0 && !d.Given("podsPerNode") && d.running == 0:
		return "podsPerNode", "missing, want podsPerNode or pods"
	case t.DrainEvery > 0 && t.DrainFor == 0:
		return "drainFor", "missing: drainEvery requires it"
	case t.CrashEvery > 0 && t.CrashFor == 0:
		return "crashFor", "missing: crashEvery requires it"
	case t.ReplaceEvery > 0 && t.ReplaceFor == 0:
		return "replaceFor", "missing: replaceEvery requires it"
	case d.Given("growAt") && d.Load.Grow == 0:
		return "growAt", "requires grow"
	}
	if name, problem = d.arriving(); problem != "" {
		return name, problem
	}
	if d.Topology != "" && d.Topology != d.fabric.Topology {
		d.fabric.Topology, d.fabric.Reflectors, d.fabric.TopOfRack = d.Topology, nil, route.TopOfRack{}
	}
	if pods := d.Load.Pods; pods == 0 {
		if most := float64(d.nodes+d.Load.Grow) * d.Load.PodsPerNode.Mean; most > podsMax {
			return "podsPerNode", fmt.Sprintf("%.0f pods in all, want at most %d", most, podsMax)
		}
	}
	return "", ""
}
