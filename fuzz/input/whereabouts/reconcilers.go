// Package whereabouts has a fuzz target for Whereabouts' ip-reconciler.
package whereabouts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/fuzz/input"
	"ipamsim/fuzz/input/whereabouts/internal/crowd"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/cron"
)

// Reconcilers is the target.
var Reconcilers = input.Target{Name: "FuzzReconcilers", Draw: reconciled}

// settings are the settings of a scenario with concurrent passes of the ip-reconciler during churn.
type settings struct{ crowd.Crowd }

// reconciled generates such a scenario.
func reconciled(managers scenarios.Managers, world []byte) (*scenarios.Scenario, error) {
	c := settings{crowd.Chosen(world)}
	var text bytes.Buffer
	for i, m := range append([]any{c.document(), c.workload()}, c.networks()...) {
		b, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text.WriteString("---\n")
		}
		text.Write(append(b, '\n')) // JSON is YAML
	}
	return managers.Parse("reconcilers.yaml", text.Bytes())
}

const crowdUntil = 25 * time.Second

func (c settings) document() scenarios.Document {
	d := scenarios.Document{APIVersion: scenarios.APIVersion, Kind: scenarios.Kind}
	d.Metadata.Name = "reconcilers"
	s, seed := &d.Spec, uint64(1)
	s.IPAM, s.Seed, s.Until.Duration = "whereabouts", &seed, crowdUntil
	for i := range 1 + c.Nodes.Pick(3) {
		s.Nodes = append(s.Nodes, fmt.Sprintf("worker-%d", i+1))
	}
	for i := range c.Crons.Pick(4) {
		s.Reconcilers = append(s.Reconcilers, scenarios.Reconciler{
			Name: "ip-reconciler", Schedule: fmt.Sprintf("@every %ds", 1+(c.Every.Pick(12)+i)%12), Count: 1 + c.Passes.Pick(3),
			Overlap: []cron.Overlap{cron.Allow, cron.Forbid, cron.Replace}[c.Overlap.Pick(3)],
		})
		if r := &s.Reconcilers[i]; c.AllNodes.Pick(2) == 1 {
			r.AllNodes, r.Count = true, 0
		}
	}
	if c.Loop.Pick(2) == 1 {
		s.Daemons = []string{"pod-control-loop"}
	}
	if n := c.Churn.Pick(9); n > 0 {
		s.Churn = []scenarios.Churn{{Every: metav1.Duration{Duration: time.Duration(n) * time.Second}, Until: metav1.Duration{Duration: crowdUntil}, Force: c.Forced.Pick(11)}}
	}
	s.Latencies = map[string]scenarios.Latency{
		"annotate": {Min: metav1.Duration{Duration: c.Pending.Spread(10*time.Millisecond, 8*time.Second)}},
		"start":    {Min: metav1.Duration{Duration: c.Start.Spread(10*time.Millisecond, 2*time.Second)}},
		"stop":     {Min: metav1.Duration{Duration: c.Stop.Spread(10*time.Millisecond, 4*time.Second)}},
	}
	s.Timers.SandboxRetry.Duration = time.Duration(2+c.Retry.Pick(9)) * time.Second
	s.Faults.Max, s.Hazards.Max = c.Faults.Pick(4), c.Hazards.Pick(4)
	return d
}

type object = map[string]any

func (c settings) workload() object {
	nets := "net1"
	if c.Overlapping.Pick(4) > 1 {
		nets = "net1, net2"
	}
	labels := object{"app": "web"}
	return object{
		"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": object{"name": "web"},
		"spec": object{
			"replicas": 1 + c.Pods.Pick(6), "podManagementPolicy": "Parallel", "selector": object{"matchLabels": labels},
			"template": object{
				"metadata": object{"labels": labels, "annotations": object{"k8s.v1.cni.cncf.io/networks": nets}},
				"spec": object{
					"terminationGracePeriodSeconds": 1,
					"containers":                    []object{{"name": "main", "image": "registry.example/web:1"}},
				},
			},
		},
	}
}

func (c settings) networks() (out []any) {
	first := fmt.Sprintf("10.10.0.0/%d", 30-c.Range.Pick(7))
	for i, of := range []string{first, []string{first, "10.10.0.0/27", first, "10.20.0.0/28"}[c.Overlapping.Pick(4)]} {
		name := fmt.Sprintf("net%d", i+1)
		config, err := json.Marshal(object{
			"cniVersion": "0.3.1", "name": name, "type": "macvlan", "ipam": object{"type": "whereabouts", "range": of},
		})
		if err != nil {
			panic(err) // strings always marshal
		}
		out = append(out, object{
			"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
			"metadata": object{"name": name}, "spec": object{"config": string(config)},
		})
	}
	return out
}
