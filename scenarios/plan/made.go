package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strings"

	"ipamsim/model/capacity"
	"ipamsim/model/reference/calico"
	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
	"ipamsim/sim/cluster"
)

// made are the manifests of a cell; cells whose settings are not those of
// manifests share them.
type made struct {
	scenario *scenarios.Scenario
	machines []machine
	nodes    []capacity.Node
	steps    []step // of the cell's migration
}

func (p *Plan) make(d *draft, cache map[string]*made) (*made, error) {
	objects, err := d.objects(p.base.Objects)
	if err != nil {
		return nil, err
	}
	key, err := json.Marshal([]any{objects, d.nodes, d.datastore})
	if err != nil {
		return nil, err
	}
	if m := cache[string(key)]; m != nil {
		return m, nil
	}
	doc := p.base.Doc
	doc.Spec.Datastore = d.datastore
	m := &made{}
	var bad *strict.Error
	if m.scenario, err = p.base.With(doc, objects); errors.As(err, &bad) {
		return nil, errors.New(strings.TrimPrefix(strings.Join([]string{bad.Object, bad.Field, bad.Problem}, ": "), ": "))
	} else if err != nil {
		return nil, err
	}
	if m.machines, err = d.machines(p.base.Objects); err != nil {
		return nil, err
	}
	for _, x := range m.machines {
		m.nodes = append(m.nodes, x.Node)
	}
	cache[string(key)] = m
	return m, nil
}

// configure takes the address manager's configuration out of the manifests.
func (m *made) configure(c *Cell, d *draft) error {
	networks := m.scenario.Policies()
	if len(networks) == 0 {
		return errors.New("no network")
	}
	b := networks[0].Blocks
	if d.manager == whereaboutsName {
		c.Cluster.Whereabouts = &capacity.Whereabouts{Networks: networks}
		for _, n := range networks {
			for _, r := range n.Ranges {
				c.PoolSize = sum(c.PoolSize, between(r.Start, r.End))
			}
		}
		return nil
	}
	if len(b.Pools) == 0 {
		return errors.New("no pool: want the setting pool, or an IPPool manifest")
	}
	pools, err := poolsOf(m.scenario.Objects)
	if err != nil {
		return err
	}
	c.Cluster.Calico = &capacity.Calico{
		Pools: pools, Reserved: b.Reserved,
		V4: b.V4, V6: b.V6, Tunnels: d.tunnels,
		Config: calico.Config{Strict: b.Strict, AutoAllocate: b.AutoAllocate, MaxBlocks: b.MaxBlocks},
	}
	if d.datastore == kubernetesDatastore {
		c.Cluster.Calico.Datastore = calico.Kubernetes
	}
	c.Cluster.Calico.Routing = routingOf(networks)
	for _, x := range b.Pools {
		c.PoolSize = sum(c.PoolSize, shifted(x.Prefix.Addr().BitLen()-x.Prefix.Bits()))
	}
	c.BlockSize = shifted(b.Pools[0].Prefix.Addr().BitLen() - b.Pools[0].BlockBits)
	return nil
}

const (
	kubernetesDatastore = "kubernetes"
	etcdDatastore       = "etcdv3"
)

// shifted is 1<<bits, or the largest number that there is.
func shifted(bits int) int {
	if bits >= 62 {
		return math.MaxInt
	}
	return 1 << bits
}

func sum(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// between counts the addresses from first to last.
func between(first, last netip.Addr) int {
	n, a, b := 0, first.As16(), last.As16()
	for i := range a {
		if n > math.MaxInt>>10 {
			return math.MaxInt
		}
		n = n<<8 + int(b[i]) - int(a[i])
	}
	return n + 1
}

// poolsOf reads the pools as the reference wants them.
func poolsOf(objects []cluster.Object) (out []calico.Pool, err error) {
	for _, o := range objects {
		if o.Kind != poolKind {
			continue
		}
		var x struct {
			Spec struct {
				CIDR              string   `json:"cidr"`
				BlockSize         int      `json:"blockSize"`
				Disabled          bool     `json:"disabled"`
				AssignmentMode    string   `json:"assignmentMode"`
				AllowedUses       []string `json:"allowedUses"`
				NodeSelector      string   `json:"nodeSelector"`
				NamespaceSelector string   `json:"namespaceSelector"`
				IPIPMode          string   `json:"ipipMode"`
				VXLANMode         string   `json:"vxlanMode"`
			} `json:"spec"`
		}
		if err := json.Unmarshal(o.Body, &x); err != nil {
			return nil, fmt.Errorf("%s %s: %w", o.Kind, o.Name, err)
		}
		prefix, err := netip.ParsePrefix(x.Spec.CIDR)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", o.Kind, o.Name, err)
		}
		pool := calico.Pool{
			Name: o.Name, Prefix: prefix.Masked(), BlockBits: x.Spec.BlockSize, Disabled: x.Spec.Disabled, Manual: x.Spec.AssignmentMode == "Manual",
			NodeSelector: x.Spec.NodeSelector, NamespaceSelector: x.Spec.NamespaceSelector,
			IPIP: on(x.Spec.IPIPMode), VXLAN: on(x.Spec.VXLANMode),
		}
		for _, use := range x.Spec.AllowedUses {
			switch use {
			case "Workload":
				pool.Uses = append(pool.Uses, calico.Workload)
			case "Tunnel":
				pool.Uses = append(pool.Uses, calico.Tunnel)
			}
		}
		out = append(out, pool)
	}
	return out, nil
}

func on(mode string) bool { return mode != "" && mode != "Never" }
