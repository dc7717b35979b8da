package calico

import routes "ipamsim/model/route"

// fabric draws the network between the nodes: a full mesh, route reflectors, or the routers of the
// racks, in a configuration that works.
func (c *world) fabric() {
	f := &c.Doc.Spec.Fabric
	switch c.Int(5) {
	case 0, 1:
		f.Topology = routes.Mesh
		c.tunnels = c.Chance(1, 3)
		c.routed = c.tunnels
	case 2:
		f.Topology = routes.Reflectors // one of the nodes; see machines
	default:
		f.Topology, c.routed = routes.ToR, c.Chance(2, 3)
		f.TopOfRack = routes.TopOfRack{DistinctAS: c.Chance(1, 2), DefaultOnly: c.Chance(1, 4), ASOverride: c.Chance(1, 3)}
		if c.Chance(1, 4) {
			f.TopOfRack.AllowLocalAS = 1
		}
		f.TopOfRack.Mesh = !c.routed && !f.TopOfRack.DistinctAS && c.Chance(1, 4)
	}
}
