package dump

// Forget drops what was needed for Scenario only: of a large cluster nearly all. Wrong
// needs the rest. Nothing can be added afterwards.
func (c *Cluster) Forget() {
	for _, p := range c.pods {
		p.value = pod{Owner: p.value.Owner, Phase: p.value.Phase} // who makes it again, and whether it runs
	}
	for _, n := range c.nodes {
		n.value = node{Cordoned: n.value.Cordoned}
	}
	c.blocks, c.affinities = nil, nil
	c.namespaces, c.endpoints, c.handles, c.families, c.attachments = nil, nil, nil, nil, nil
	c.words = nil
}
