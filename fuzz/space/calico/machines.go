package calico

import (
	"fmt"

	"ipamsim/fuzz/space"
	routes "ipamsim/model/route"
)

// machines draws the nodes: names with and without a domain, two racks, and each node's address for
// the other nodes. The racks are separate subnets only where this works: if routers speak BGP, or
// if all traffic goes through tunnels.
func (c *world) machines() {
	name := space.Pick(c.Choices, "worker-%d", "kubestage100%d.eqiad.wmnet", "node-%d")
	for i := range space.Pick(c.Choices, 2, 2, 3, 3, 4) {
		c.Nodes = append(c.Nodes, fmt.Sprintf(name, i+1))
		c.machine = append(c.machine, c.manifest(c.Nodes[i], zone(i)))
		c.Add(c.machine[i])
	}
	if f := &c.Doc.Spec.Fabric; f.Topology == routes.Reflectors {
		f.Reflectors = []string{c.Node()}
	}
}

// zone returns the rack of a node by its number: racks alternate.
func zone(i int) string { return string(rune('a' + i%2)) }

// manifest returns a Node with the next address of its rack's subnet.
func (c *world) manifest(name, zone string) object {
	c.addresses++
	subnet := "10.0.0"
	if c.routed && zone == "b" {
		subnet = "10.0.1"
	}
	m := object{
		"apiVersion": "v1", "kind": "Node",
		"metadata": object{
			"name":        name,
			"labels":      object{"kubernetes.io/hostname": name, "zone": zone},
			"annotations": object{"projectcalico.org/IPv4Address": fmt.Sprintf("%s.%d/24", subnet, 10+c.addresses)},
		},
		"status": object{"conditions": []object{{"type": "Ready", "status": "True"}}},
	}
	if c.racks6 {
		c.number6(m, zone, c.addresses)
	}
	return m
}

// number6 sets a Node's IPv6 address: the n-th of its rack's subnet.
func (c *world) number6(m object, zone string, n int) {
	rack := 0
	if c.routed && zone == "b" {
		rack = 1
	}
	m["metadata"].(object)["annotations"].(object)["projectcalico.org/IPv6Address"] = fmt.Sprintf("fd00:0:0:%d::%x/64", rack, 16+n)
}
