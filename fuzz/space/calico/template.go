package calico

import (
	"encoding/json"
	"fmt"

	"ipamsim/fuzz/space"
)

// The annotations with which pods and namespaces configure Calico's IPAM.
const (
	ipv4Pools     = "cni.projectcalico.org/ipv4pools"
	ipv6Pools     = "cni.projectcalico.org/ipv6pools"
	ipAddrs       = "cni.projectcalico.org/ipAddrs"
	ipAddrsNoIpam = "cni.projectcalico.org/ipAddrsNoIpam"
	ipFamilies    = "cni.projectcalico.org/ipFamilies"
)

// namespaces draws the labels and annotations of the namespace of all pods.
func (c *world) namespaces() {
	meta := object{"name": "default", "labels": object{"kubernetes.io/metadata.name": "default", "team": space.Pick(c.Choices, "green", "blue")}}
	if c.Chance(1, 12) {
		meta["annotations"] = object{ipv4Pools: list(c.pools[0].name)}
	}
	c.namespace = meta
	c.Add(object{"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
}

// template draws the requests of a workload's pods: mostly none, otherwise certain addresses,
// addresses without IPAM, certain pools or families; and a node or rack to run on.
func (c *world) template() (annotations map[string]string, spec object) {
	annotations, spec = map[string]string{}, object{}
	switch c.Int(12) {
	case 0:
		annotations[ipAddrs] = list(c.address(c.pools[0]).String())
	case 1:
		annotations[ipv4Pools] = list(c.anyFour())
	case 2:
		if c.past {
			annotations[ipAddrsNoIpam] = list(fmt.Sprintf("10.99.0.%d", c.Between(1, 9)))
		}
	case 3:
		if c.six {
			annotations[ipFamilies] = space.Pick(c.Choices, list("IPv6"), list("IPv4"), list("IPv4", "IPv6"))
		}
	}
	switch c.Int(5) {
	case 0:
		spec["nodeSelector"] = object{"kubernetes.io/hostname": c.Node()}
	case 1:
		spec["nodeSelector"] = object{"zone": space.Pick(c.Choices, "a", "b")}
	}
	return annotations, spec
}

// anyFour returns the name of an IPv4 pool, or its prefix.
func (c *world) anyFour() string {
	p := c.anyPool()
	for !p.prefix.Addr().Is4() {
		p = c.pools[0]
	}
	return space.Pick(c.Choices, p.name, p.prefix.String())
}

// list returns a JSON list of strings, as in annotations.
func list(texts ...string) string {
	b, err := json.Marshal(texts)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(b)
}
