package plan

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model/capacity"
	"ipamsim/model/reference/calico"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/cron"
)

// fabric is what the plan says of the network, or else its scenario.
func (p *Plan) fabric() error {
	if f := p.Doc.Spec.Fabric; !reflect.ValueOf(f).IsZero() {
		p.base.Doc.Spec.Fabric = f
	}
	return nil
}

// Upstream's own intervals, where nobody says otherwise.
//
// Sources: kube-controllers/pkg/config, defaultReconcilePeriod (v3.31);
// doc/crds/daemonset-install.yaml, reconciler_cron_expression "30 4 * * *" (v0.9.4).
const (
	calicoEvery      = 5 * time.Minute
	whereaboutsEvery = 24 * time.Hour
)

// alone: the plan is no scenario's, so that nobody says what else runs.
func (p *Plan) alone() bool { return p.from == nil && !p.sheet.Has(scenarios.Kind) }

// tunnelDaemon gives nodes' devices their addresses.
const tunnelDaemon = "tunnel-addresses"

// tunnelsIn reports whether nodes of a cluster that runs have addresses for their
// devices, so that calico-node looks after them.
//
// Source: node/pkg/allocateip/allocateip.go, generateHandleAndAttributes.
func tunnelsIn(objects []cluster.Object) bool {
	return slices.ContainsFunc(objects, func(o cluster.Object) bool {
		return o.Kind == "IPAMHandle" && (strings.HasPrefix(o.Name, "ipip-tunnel-addr-") || strings.HasPrefix(o.Name, "vxlan-tunnel-addr-") || strings.HasPrefix(o.Name, "vxlan-v6-tunnel-addr-"))
	})
}

// collects is how the reconciler runs in the plan's scenario: its passes, or the
// collector as a daemon; none if it has neither. A plan of manifests has
// upstream's.
func (p *Plan) collects() (c capacity.Collect) {
	spec := p.base.Doc.Spec
	pass := map[string]string{calicoName: "ipam-gc", whereaboutsName: "ip-reconciler"}[spec.IPAM]
	if p.alone() {
		c.Every = map[string]time.Duration{calicoName: calicoEvery, whereaboutsName: whereaboutsEvery}[spec.IPAM]
	}
	for _, d := range spec.Daemons {
		if d == "ipam-controller" {
			c.Every = calicoEvery
		}
	}
	for _, r := range spec.Reconcilers {
		if sched, err := cron.Parse(r.Schedule); err == nil && r.Name == pass {
			at := sched.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
			c.Every = sched.Next(at).Sub(at)
		}
	}
	c.Grace = graceOf(p.base.Objects)
	return c
}

// graceOf is the collector's grace period by the manifests; 0 is the default.
func graceOf(objects []cluster.Object) time.Duration {
	for _, o := range objects {
		if o.Kind != collectorKind {
			continue
		}
		var k struct {
			Spec struct {
				Controllers struct {
					Node *struct {
						LeakGracePeriod *string `json:"leakGracePeriod"`
					} `json:"node"`
				} `json:"controllers"`
			} `json:"spec"`
		}
		if json.Unmarshal(o.Body, &k) != nil || k.Spec.Controllers.Node == nil {
			return calico.Never
		}
		if text := k.Spec.Controllers.Node.LeakGracePeriod; text != nil {
			if d, err := time.ParseDuration(*text); err == nil && d > 0 {
				return d
			}
			return calico.Never // a period of 0 releases nothing
		}
	}
	return 0
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
