package plan_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/scenarios"
	"ipamsim/scenarios/plan"
	"ipamsim/sim/ipam"
)

// naive is the configuration of a manager that hands out the lowest free address of its
// network's first range.
type naive struct{}

func (naive) Open(p *capacity.Player) (*capacity.Allocator, error) {
	in := p.Cluster().Networks[0].Ranges[0]
	var claims []model.Claim
	return &capacity.Allocator{
		Add: func(pod *capacity.Pod) ([]netip.Addr, error) {
			for a := in.Start; in.Spans(a); a = a.Next() {
				if !slices.ContainsFunc(claims, func(c model.Claim) bool { return c.Addr == a }) {
					claims = append(claims, model.Claim{Addr: a, Pod: pod.Ref, Node: pod.Node.Name, Container: pod.Container})
					return []netip.Addr{a}, nil
				}
			}
			return nil, capacity.ErrNoAddress
		},
		Del: func(_ *capacity.Pod, container string) error {
			claims = slices.DeleteFunc(claims, func(c model.Claim) bool { return c.Container == container })
			return nil
		},
		Record: func() model.Snapshot { return model.Snapshot{Claims: slices.Clone(claims)} },
	}, nil
}

// A manager from elsewhere is planned with a reference allocator and what says how a
// scenario configures it. Two nodes want three pods each, of five addresses.
func Example() {
	toy := &ipam.Manager{
		Name: "toy", Upstream: "example.org/toy@v1.0.0",
		Network: func(key string, config json.RawMessage) (model.Network, bool, error) {
			prefix := netip.MustParsePrefix("10.0.0.0/24")
			return model.Network{Key: key, Ranges: []model.Range{{Prefix: prefix, Start: netip.MustParseAddr("10.0.0.1"), End: netip.MustParseAddr("10.0.0.5")}}}, true, nil
		},
	}
	mine := scenarios.Managers{toy.With(plan.Manager{
		Configure: func(_ *plan.Draft, _ *scenarios.Scenario, c *capacity.Cluster) error {
			c.Manager = naive{}
			return nil
		},
	})}

	p, err := plan.Parse(mine, "toy.yaml", []byte(`
apiVersion: ipamsim.dev/v1alpha1
kind: Plan
metadata: {name: toy}
spec:
  ipam: toy
  horizon: 30d
  repeats: 1
  samples: 2
  settings: {nodes: 2}
  axes: [{setting: podsPerNode, values: [2, 3]}]
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {namespace: default, name: pods}
spec: {config: '{"cniVersion": "0.3.1", "type": "macvlan", "ipam": {"type": "toy"}}'}
`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, point := range p.Points() {
		done, err := p.Run(context.Background(), nil, point)
		if err != nil || done.Refused != "" {
			fmt.Println(err, done.Refused)
			return
		}
		last := done.Course.Samples[1]
		fmt.Printf("%s: of %d addresses %d in use, %d pods without one\n", p.Cells[point.Cell].Title(), last.Size, last.InUse, last.Waiting)
	}
	// Output:
	// 2: of 5 addresses 4 in use, 0 pods without one
	// 3: of 5 addresses 5 in use, 1 pods without one
}
