package plan

import (
	"encoding/json"
	"fmt"
	"time"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
)

// unit is how a pod of the trace comes and goes in the real run.
type unit struct {
	resource string
	body     func(ref model.PodRef, node string, s *scenarios.Scenario) (json.RawMessage, error)
}

// triesMax is how many tenants may try again in one step: one after the other, in its first
// quarter.
const triesMax = 64

// tenants maps the pods of the trace to tenants. A refused tenant is not recreated, so its retries are
// in the timeline: the reference, which runs ahead, determines when.
func (p *Plan) tenants(c *capacity.Cluster, pt Point, s *script, add func(time.Duration, scenarios.Event)) unit {
	of := p.manager.Tenants
	if of == nil {
		return unit{"pods", podBody}
	}
	u := unit{of.Resource, func(ref model.PodRef, _ string, _ *scenarios.Scenario) (json.RawMessage, error) {
		return json.Marshal(Body{
			"apiVersion": "v1", "kind": of.Kind, "metadata": Body{"name": ref.Name, "namespace": ref.Namespace},
			"spec": of.Spec(c, pt.Seed, ref.Name),
		})
	}}
	step, tries := time.Duration(-1), 0
	s.ahead.Tried = func(at time.Duration, ref model.PodRef) {
		if at != step {
			step, tries = at, 0
		}
		if tries++; tries > triesMax {
			s.crowded = fmt.Sprintf("too much happens for the real code: more than %d %s try again at %s", triesMax, of.Resource, at)
			return
		}
		body, err := u.body(ref, "", nil)
		if err != nil {
			s.crowded = err.Error()
			return
		}
		add(at+c.Apart/WorkAt/(triesMax+1)*time.Duration(tries), scenarios.Event{Action: &action.Apply{Object: body}})
	}
	return u
}

var applies = action.Of(&action.Apply{}).Name

// countTenant counts a request of the operator as an ADD.
func (p *Plan) countTenant(c *capacity.Course, e *model.Event, apart time.Duration) {
	of := p.manager.Tenants
	switch {
	case of == nil || e.Action.Kind != applies || e.Action.Object != of.Kind:
	case e.Err == "":
		c.Adds++
	case p.manager.Real.Wanting(e.Err):
		c.Wanted(e.At / apart * apart)
	}
}
