package plan

import (
	"cmp"
	"fmt"
	"slices"

	"ipamsim/model/capacity"
	"ipamsim/sim/cluster"
)

// kept is what no option changes of a cluster that runs.
func (p *Plan) kept(d *draft) (name, problem string) {
	if !p.begins() {
		return "", ""
	}
	nodes := 0
	for _, o := range p.base.Objects {
		if o.Kind == nodeKind {
			nodes++
		}
	}
	switch {
	case d.given["nodes"] && d.nodes < nodes:
		return "nodes", fmt.Sprintf("%d, and the cluster has %d already: grow adds some", d.nodes, nodes)
	case d.given["datastore"] && cmp.Or(d.datastore, etcdDatastore) != cmp.Or(p.base.Doc.Spec.Datastore, etcdDatastore):
		return "datastore", "a cluster that runs keeps its datastore, " + cmp.Or(p.base.Doc.Spec.Datastore, etcdDatastore)
	}
	return "", ""
}

// moves lets a cell begin with the cluster as it is, and gives it the way to what its
// settings ask for.
func (p *Plan) moves(c *Cell, d *draft, to *made, cache map[string]*made) (*made, error) {
	if d.manager != calicoName || !slices.ContainsFunc(p.base.Objects, func(o cluster.Object) bool { return o.Kind == poolKind }) {
		return to, nil
	}
	now := p.first()
	now.nodes, now.collect = d.nodes, d.collect
	if d.given["grace"] {
		now.given["grace"] = true
	}
	from, err := p.make(now, cache)
	if err != nil {
		return nil, err
	}
	was := Cell{}
	if err := from.configure(&was, now); err != nil {
		return nil, err
	}
	old, err := livePools(from.scenario)
	if err != nil {
		return nil, err
	}
	target, err := livePools(to.scenario)
	if err != nil {
		return nil, err
	}
	steps, err := d.migration(old, target, from.scenario.Objects)
	if err != nil {
		return nil, err
	}
	if is := c.Cluster.Calico.Config; is != was.Cluster.Calico.Config {
		i := slices.IndexFunc(to.scenario.Objects, func(o cluster.Object) bool { return o.Kind == configKind || o.Kind == configKindV3 })
		steps = slices.Insert(steps, 0, step{Step: capacity.Step{Kind: capacity.Configure, Config: is}, object: to.scenario.Objects[i]})
	}
	if len(steps) == 0 {
		return to, nil
	}
	c.Cluster.Calico = was.Cluster.Calico
	for _, s := range steps {
		c.Cluster.Migration = append(c.Cluster.Migration, s.Step)
	}
	return &made{from.scenario, to.machines, to.nodes, steps}, nil
}
