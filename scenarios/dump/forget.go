package dump

// Forget drops what was needed for Scenario only: of a large cluster nearly all. Wrong
// needs the rest. Nothing can be added afterwards.
func (c *Cluster) Forget() {
	for _, p := range c.pods {
		p.value = pod{Owner: p.value.Owner, Phase: p.value.Phase, Affine: p.value.Affine} // who makes it again, and where
	}
	for _, n := range c.nodes {
		n.value = node{Cordoned: n.value.Cordoned, Labels: n.value.Labels, Taints: n.value.Taints}
	}
	c.blocks, c.affinities = nil, nil
	c.namespaces, c.endpoints, c.handles, c.families, c.attachments = nil, nil, nil, nil, nil
	c.words = nil
}
