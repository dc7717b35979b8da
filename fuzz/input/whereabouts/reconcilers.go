// Package whereabouts is a fuzz target of its own: Whereabouts' ip-reconciler.
package whereabouts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	gofuzz "github.com/google/gofuzz"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/fuzz/input"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/cron"
)

// Reconcilers is the target.
var Reconcilers = input.Target{Name: "FuzzReconcilers", Draw: reconciled}

// crowd is a world of concurrent passes of the ip-reconciler against churn: few
// things, but each of them at will. Eight bytes of an input make one field.
type crowd struct {
	Pods, Nodes            level // 1 to 6, 1 to 3
	Crons, Passes          level // how many of them, 0 to 3; each starts so many passes at once, 1 to 3
	Every, Overlap         level // 1 to 12 s; what a cron does if a pass still runs
	AllNodes, Loop         level // a pass on each node; the pod control loop runs besides
	Churn, Forced          level // a pod is deleted every 1 to 8 s; so many of ten by force
	Pending, Start, Stop   level // how long a pod is without its network status; without running; ending
	Range, Overlapping     level // /24 to /30; the same addresses in a second network
	Retry, Faults, Hazards level // of a refused sandbox, 2 to 10 s; at most so many, 0 to 3
}

// level is one setting, 0 to 250, the plainest first.
type level uint8

// levels is a prime: every bit of the eight bytes counts.
const levels = 251

// pick is one of n.
func (l level) pick(n int) int { return int(l) % n }

// spread is a duration between two, each order of magnitude in as many levels.
func (l level) spread(from, to time.Duration) metav1.Duration {
	d := from
	for range l {
		d += d / 36 // the 250th is about a thousand times the first
		if d >= to {
			return metav1.Duration{Duration: to}
		}
	}
	return metav1.Duration{Duration: d.Round(time.Millisecond)}
}

// chosen fills a crowd from bytes.
func chosen(world []byte) (c crowd) {
	gofuzz.NewFromGoFuzz(world).Funcs(func(l *level, b gofuzz.Continue) { *l = level(b.Uint64() % levels) }).Fuzz(&c)
	return c
}

// bytes is the inverse of chosen.
func (c crowd) bytes() (world []byte) {
	for _, l := range []level{
		0, // which gofuzz keeps for when the bytes end
		c.Pods, c.Nodes, c.Crons, c.Passes, c.Every, c.Overlap, c.AllNodes, c.Loop, c.Churn, c.Forced,
		c.Pending, c.Start, c.Stop, c.Range, c.Overlapping, c.Retry, c.Faults, c.Hazards,
	} {
		world = append(world, 0, 0, 0, 0, 0, 0, 0, byte(l))
	}
	return world
}

// reconciled draws such a world.
func reconciled(managers scenarios.Managers, world []byte) (*scenarios.Scenario, error) {
	c := chosen(world)
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

func (c crowd) document() scenarios.Document {
	d := scenarios.Document{APIVersion: scenarios.APIVersion, Kind: scenarios.Kind}
	d.Metadata.Name = "reconcilers"
	s, seed := &d.Spec, uint64(1)
	s.IPAM, s.Seed, s.Until.Duration = "whereabouts", &seed, crowdUntil
	for i := range 1 + c.Nodes.pick(3) {
		s.Nodes = append(s.Nodes, fmt.Sprintf("worker-%d", i+1))
	}
	for i := range c.Crons.pick(4) {
		s.Reconcilers = append(s.Reconcilers, scenarios.Reconciler{
			Name: "ip-reconciler", Schedule: fmt.Sprintf("@every %ds", 1+(c.Every.pick(12)+i)%12), Count: 1 + c.Passes.pick(3),
			Overlap: []cron.Overlap{cron.Allow, cron.Forbid, cron.Replace}[c.Overlap.pick(3)],
		})
		if r := &s.Reconcilers[i]; c.AllNodes.pick(2) == 1 {
			r.AllNodes, r.Count = true, 0
		}
	}
	if c.Loop.pick(2) == 1 {
		s.Daemons = []string{"pod-control-loop"}
	}
	if n := c.Churn.pick(9); n > 0 {
		s.Churn = []scenarios.Churn{{Every: metav1.Duration{Duration: time.Duration(n) * time.Second}, Until: metav1.Duration{Duration: crowdUntil}, Force: c.Forced.pick(11)}}
	}
	s.Latencies = map[string]scenarios.Latency{
		"annotate": {Min: c.Pending.spread(10*time.Millisecond, 8*time.Second)},
		"start":    {Min: c.Start.spread(10*time.Millisecond, 2*time.Second)},
		"stop":     {Min: c.Stop.spread(10*time.Millisecond, 4*time.Second)},
	}
	s.Timers.SandboxRetry.Duration = time.Duration(2+c.Retry.pick(9)) * time.Second
	s.Faults.Max, s.Hazards.Max = c.Faults.pick(4), c.Hazards.pick(4)
	return d
}

type object = map[string]any

func (c crowd) workload() object {
	nets := "net1"
	if c.Overlapping.pick(4) > 1 {
		nets = "net1, net2"
	}
	labels := object{"app": "web"}
	return object{
		"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": object{"name": "web"},
		"spec": object{
			"replicas": 1 + c.Pods.pick(6), "podManagementPolicy": "Parallel", "selector": object{"matchLabels": labels},
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

func (c crowd) networks() (out []any) {
	first := fmt.Sprintf("10.10.0.0/%d", 30-c.Range.pick(7))
	for i, of := range []string{first, []string{first, "10.10.0.0/27", first, "10.20.0.0/28"}[c.Overlapping.pick(4)]} {
		name := fmt.Sprintf("net%d", i+1)
		config, err := json.Marshal(object{
			"cniVersion": "0.3.1", "name": name, "type": "macvlan", "ipam": object{"type": "whereabouts", "range": of},
		})
		if err != nil {
			panic(err) // made of text
		}
		out = append(out, object{
			"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
			"metadata": object{"name": name}, "spec": object{"config": string(config)},
		})
	}
	return out
}
