package plan

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model/capacity/workload"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/cron"
)

// fabric sets the network of the plan, or else that of its scenario.
func (p *Plan) fabric() error {
	if f := p.Doc.Spec.Fabric; !reflect.ValueOf(f).IsZero() {
		p.base.Doc.Spec.Fabric = f
	}
	return nil
}

// alone reports whether the plan has no scenario that defines other components.
func (p *Plan) alone() bool { return p.from == nil && !p.sheet.Has(scenarios.Kind) }

// collects is how the reconciler runs in the plan's scenario: its passes, or those of
// the daemon that makes them; none if it has neither. A plan of manifests has
// upstream's.
func (p *Plan) collects() (c workload.Collect) {
	spec := p.base.Doc.Spec
	if p.alone() || p.manager.Daemon != "" && slices.Contains(spec.Daemons, p.manager.Daemon) {
		c.Every = p.manager.Every
	}
	for _, r := range spec.Reconcilers {
		if sched, err := cron.Parse(r.Schedule); err == nil && r.Name == p.manager.Pass {
			at := sched.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
			c.Every = sched.Next(at).Sub(at)
		}
	}
	if p.manager.Grace != nil {
		c.Grace = p.manager.Grace(p.base.Objects)
	}
	return c
}

// running counts the pods that run already, by their manifests.
func (p *Plan) running() int {
	n := 0
	for _, o := range p.base.Objects {
		if o.Kind != podKind {
			continue
		}
		var pod corev1.Pod
		if json.Unmarshal(o.Body, &pod) == nil && pod.Spec.NodeName != "" && pod.Status.Phase == corev1.PodRunning && !pod.Spec.HostNetwork {
			n++
		}
	}
	return n
}
