package plan

import (
	"cmp"
	"fmt"
	"slices"

	"ipamsim/sim/cluster"
)

// begins reports whether the plan begins with a cluster that runs, so that an option
// is a way from what there is, and not how the cluster was built.
func (p *Plan) begins() bool {
	return p.running() > 0 || slices.ContainsFunc(p.base.Objects, func(o cluster.Object) bool {
		return slices.Contains(p.manager.Stored, o.Kind)
	})
}

// kept is what no option changes of a cluster that runs.
func (p *Plan) kept(d *Draft) (name, problem string) {
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
	case d.Given("nodes") && d.nodes < nodes:
		return "nodes", fmt.Sprintf("%d, but the cluster already has %d: use grow to add nodes", d.nodes, nodes)
	case d.Given("datastore") && p.datastore(d.Datastore) != p.datastore(p.base.Doc.Spec.Datastore):
		return "datastore", "a running cluster keeps its datastore, " + p.datastore(p.base.Doc.Spec.Datastore)
	}
	return "", ""
}

// datastore of a name, or the manager's first.
func (p *Plan) datastore(name string) string {
	return cmp.Or(append([]string{name}, p.base.Manager().Datastores...)...)
}

// moves lets a cell begin with the cluster as it is, and gives it the way to what its
// settings ask for.
func (p *Plan) moves(c *Cell, d *Draft, to *made, cache map[string]*made) (*made, error) {
	if p.manager.Moves == nil || !slices.ContainsFunc(p.base.Objects, func(o cluster.Object) bool { return o.Kind == p.manager.Pool }) {
		return to, nil
	}
	now := p.first()
	now.nodes, now.Collect = d.nodes, d.Collect
	if grace, ok := d.values["grace"]; ok {
		now.values["grace"] = grace
	}
	from, err := p.make(now, cache)
	if err != nil {
		return nil, err
	}
	was := Cell{}
	if err := p.configure(&was, from, now); err != nil {
		return nil, err
	}
	steps, err := p.manager.Moves(Move{Draft: d, From: from.scenario, To: to.scenario, Was: &was.Cluster, Is: &c.Cluster})
	if err != nil || len(steps) == 0 {
		return to, err
	}
	becomes := c.Cluster
	c.Cluster.Becomes = &becomes
	c.Cluster.Manager, c.Cluster.Networks = was.Cluster.Manager, was.Cluster.Networks
	for _, s := range steps {
		c.Cluster.Migration = append(c.Cluster.Migration, s.Step)
	}
	return &made{from.scenario, to.machines, to.nodes, steps}, nil
}
