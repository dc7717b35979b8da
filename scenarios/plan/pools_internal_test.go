package plan

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"ipamsim/model/capacity/calico"
)

// Pools are named, and the size of blocks is a family's or a pool's: of two families
// 27 is IPv4's. What is not named stays as it is.
func TestPools(t *testing.T) {
	const text = `apiVersion: ipamsim.dev/v1alpha1
kind: Plan
metadata: {name: pools}
spec:
  ipam: calico
  horizon: 1d
  settings: {nodes: 2, pods: 10}
  options: [{name: one, set: {%s}}]
---
apiVersion: crd.projectcalico.org/v1
kind: IPPool
metadata: {name: four}
spec: {cidr: 10.0.0.0/24, nodeSelector: all()}
---
apiVersion: crd.projectcalico.org/v1
kind: IPPool
metadata: {name: edge}
spec: {cidr: 10.1.0.0/24, blockSize: 28, nodeSelector: role == "edge"}
---
apiVersion: crd.projectcalico.org/v1
kind: IPPool
metadata: {name: six}
spec: {cidr: fd00::/64, nodeSelector: all()}
`
	for _, x := range []struct {
		set  string
		want []string
	}{
		{"blockSize: 27", []string{"edge 10.1.0.0/24 /27 role", "four 10.0.0.0/24 /27", "six fd00::/64 /122"}},
		{"blockSize: 124", []string{"edge 10.1.0.0/24 /28 role", "four 10.0.0.0/24 /26", "six fd00::/64 /124"}},
		{"blockSize: {ipv4: 29, ipv6: 124, edge: 30}", []string{"edge 10.1.0.0/24 /30 role", "four 10.0.0.0/24 /29", "six fd00::/64 /124"}},
		{"pool: {edge: 10.9.0.0/24}", []string{"edge 10.9.0.0/24 /28 role", "four 10.0.0.0/24 /26", "six fd00::/64 /122"}},
		{"addPool: [10.2.0.0/24, 'fd01::/64', {name: b, cidr: 10.3.0.0/24, blockSize: 30}], blockSize: 27", []string{
			"b 10.3.0.0/24 /30", "edge 10.1.0.0/24 /27 role", "four 10.0.0.0/24 /27", "four-2 10.2.0.0/24 /27", "six fd00::/64 /122", "six-2 fd01::/64 /122"}},
		{"resizePool: {four: 23}, removePool: edge", []string{"four 10.0.0.0/23 /26", "six fd00::/64 /122"}},
	} {
		p, err := Parse(All, "pools.yaml", fmt.Appendf(nil, text, x.set), nil)
		if err != nil {
			t.Errorf("%s: %v", x.set, err)
			continue
		}
		var got []string
		for _, pool := range calico.Of(&p.Cells[0].Cluster).Pools {
			s := fmt.Sprintf("%s %s /%d", pool.Name, pool.Prefix, cmp.Or(pool.BlockBits, pool.Prefix.Addr().BitLen()-6))
			if pool.NodeSelector == `role == "edge"` {
				s += " role"
			}
			got = append(got, s)
		}
		slices.Sort(got)
		if diff := gocmp.Diff(x.want, got); diff != "" {
			t.Errorf("%s: want -, got +\n%s", x.set, diff)
		}
		if len(p.Cells[0].Cluster.Migration) > 0 {
			t.Errorf("%s: nothing runs, and it is a migration", x.set)
		}
	}
}
