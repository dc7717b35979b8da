package plan

import (
	"encoding/json"
	"errors"
	"math"
	"net/netip"
	"strings"

	"ipamsim/model/capacity/workload"
	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
)

// made are the manifests of a cell; cells whose settings are not those of
// manifests share them.
type made struct {
	scenario *scenarios.Scenario
	machines []machine
	nodes    []workload.Node
	steps    []Step // of the cell's migration
}

func (p *Plan) make(d *Draft, cache map[string]*made) (*made, error) {
	objects, err := p.objects(d)
	if err != nil {
		return nil, err
	}
	key, err := json.Marshal([]any{objects, d.nodes, d.Datastore})
	if err != nil {
		return nil, err
	}
	if m := cache[string(key)]; m != nil {
		return m, nil
	}
	doc := p.base.Doc
	doc.Spec.Datastore = d.Datastore
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
func (p *Plan) configure(c *Cell, m *made, d *Draft) error {
	if c.Cluster.Networks = m.scenario.Policies(); len(c.Cluster.Networks) == 0 {
		return errors.New("no network")
	}
	if err := p.manager.Configure(d, m.scenario, &c.Cluster); err != nil {
		return err
	}
	for _, n := range c.Cluster.Networks {
		if n.Blocks == nil {
			for _, r := range n.Ranges {
				c.PoolSize = sum(c.PoolSize, between(r.Start, r.End))
			}
			continue
		}
		for i, x := range n.Blocks.Pools {
			c.PoolSize = sum(c.PoolSize, shifted(x.Prefix.Addr().BitLen()-x.Prefix.Bits()))
			if i == 0 && c.BlockSize == 0 {
				c.BlockSize = shifted(x.Prefix.Addr().BitLen() - x.BlockBits)
			}
		}
	}
	return nil
}

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
