package calico

import (
	"math"

	"ipamsim/fuzz/space"
)

// rarities are the uncommon settings of Calico.
func (c *world) rarities() []func(*space.World) {
	var out []func(*space.World)
	for _, f := range []func(*world){
		(*world).rarePool, (*world).rarePool, (*world).spelled, (*world).spelled, (*world).blockLimit,
		(*world).rareReservation, (*world).impatient, (*world).rarePlugin, (*world).rareRequest, (*world).rareNamespace,
	} {
		out = append(out, func(*space.World) { f(c) })
	}
	return out
}

// rarePools are IPPools at the limits of what upstream allows: blocks of its default size, omitted
// or written, and of the largest size; a pool for Services, for which this cluster has no
// controller; a disabled pool that is smaller than a block; and one for no node.
//
// Source: Calico's documentation of IPPool: a blockSize is from 20 to 32, or from 116 to
// 128; libcalico-go/lib/validator/v3, validateIPPoolSpec (v3.31).
var rarePools = []object{
	{"cidr": "10.81.0.0/25"},
	{"cidr": "10.81.0.0/25", "blockSize": 26},
	{"cidr": "10.80.0.0/20", "blockSize": 20},
	{"cidr": "10.81.0.0/28", "blockSize": 30, "allowedUses": []string{"LoadBalancer"}, "nodeSelector": "all()"},
	{"cidr": "10.81.0.0/30", "disabled": true},
	{"cidr": "10.81.0.0/28", "blockSize": 30, "nodeSelector": "has(nothing)"},
	{"cidr": "fd00:81::/121"},
	{"cidr": "fd00:81::/121", "blockSize": 122},
	{"cidr": "fd00:80::/116", "blockSize": 116},
}

// rarePool adds one of them, for pods that ask for no other pool.
func (c *world) rarePool() {
	if c.rare {
		return
	}
	c.rare = true
	spec := object{}
	for k, v := range space.Pick(c.Choices, rarePools...) {
		spec[k] = v
	}
	if c.tunnels && spec["allowedUses"] == nil {
		spec["vxlanMode"] = "Always"
	}
	c.Add(object{"apiVersion": "projectcalico.org/v3", "kind": "IPPool", "metadata": object{"name": "rare"}, "spec": spec})
}

// spelled writes a default of one of the pools explicitly, or omits it.
func (c *world) spelled() {
	spec := c.anyPool().manifest["spec"].(object)
	set := func(key string, v any) {
		if spec[key] == nil {
			spec[key] = v
		}
	}
	switch c.Int(7) {
	case 0:
		if spec["nodeSelector"] == "all()" {
			delete(spec, "nodeSelector")
		}
	case 1:
		set("ipipMode", "Never")
	case 2:
		set("vxlanMode", "Never")
	case 3:
		set("assignmentMode", "Automatic")
	case 4:
		if spec["namespaceSelector"] == nil {
			set("allowedUses", []string{"Workload", "Tunnel"})
		}
	case 5: // upstream allows no tunnels with a selector
		if spec["vxlanMode"] == nil && spec["ipipMode"] == nil && spec["allowedUses"] == nil {
			spec["namespaceSelector"], spec["allowedUses"] = "all()", []string{"Workload"}
		}
	case 6:
		set("disableBGPExport", false)
		set("disabled", false)
	}
}

// blockLimit sets the limit of blocks of a node: none, a few, upstream's default, or the largest number.
func (c *world) blockLimit() {
	if c.settings == nil {
		c.settings = object{
			"apiVersion": "crd.projectcalico.org/v1", "kind": "IPAMConfig", "metadata": object{"name": "default"},
			"spec": object{"autoAllocateBlocks": true},
		}
		c.Add(c.settings)
	}
	spec := c.settings["spec"].(object)
	spec["strictAffinity"] = true // upstream allows a limit only with strict affinity
	spec["maxBlocksPerHost"] = space.Pick(c.Choices, 0, 3, 20, math.MaxInt32)
}

// rareReservation reserves a whole pool, several things, addresses in no pool, addresses of the
// other family, or nothing.
func (c *world) rareReservation() {
	p := c.anyPool()
	spec := space.Pick(c.Choices,
		object{"reservedCIDRs": []string{p.prefix.String()}},
		object{"reservedCIDRs": []string{c.address(p).String(), c.block(p).String()}},
		object{"reservedCIDRs": []string{"198.51.100.0/24"}},
		object{"reservedCIDRs": []string{"fd00:64:75::1", "fd00:64:75::8/125"}},
		object{"reservedCIDRs": []string{}},
	)
	if !c.keptRare {
		c.keptRare = true
		c.Add(object{"apiVersion": "projectcalico.org/v3", "kind": "IPReservation", "metadata": object{"name": "rare"}, "spec": spec})
	}
}

// impatient sets a very short grace period of the collector. With a shorter one a run would take
// minutes, because the collector runs twice in each period.
func (c *world) impatient() {
	if c.grace > 0 {
		c.collector["leakGracePeriod"] = "1s"
	}
}

// rarePlugin sets the pools of all pods in the configuration of the CNI plugin, or IPv6 addresses only.
func (c *world) rarePlugin() {
	ipam := object{"type": "calico-ipam"}
	if c.six {
		ipam["assign_ipv6"] = "true"
	}
	first := c.pools[0]
	switch n := c.Int(5); {
	case n < 2:
		ipam["ipv4_pools"] = []string{space.Pick(c.Choices, first.name, first.prefix.String())}
	case n == 2:
		ipam["ipv4_pools"] = c.names(true)
	case !c.six:
		return
	case n == 3:
		ipam["ipv6_pools"] = c.names(false)
	default:
		ipam["assign_ipv4"] = "false"
	}
	c.configuration(ipam)
}

// rareRequest is a rare request of pods: several pools, pools or an address of IPv6, or an address
// of each family.
func (c *world) rareRequest() {
	notes := c.Notes()
	if notes == nil || notes[ipAddrs] != nil || notes[ipAddrsNoIpam] != nil {
		return
	}
	six := c.pools[len(c.pools)-1]
	switch n := c.Int(4); {
	case n == 0:
		notes[ipv4Pools] = list(c.names(true)...)
	case !c.six:
	case n == 1:
		notes[ipv6Pools] = list(six.name)
	case n == 2:
		notes[ipAddrs] = list(c.address(six).String())
	default:
		notes[ipAddrs] = list(c.address(c.pools[0]).String(), c.address(six).String())
	}
}

// rareNamespace requests pools or families for all pods.
func (c *world) rareNamespace() {
	notes := space.AnnotationsOf(c.namespace)
	switch n := c.Int(3); {
	case n == 0 || !c.six:
		notes[ipv4Pools] = list(c.names(true)...)
	case n == 1:
		notes[ipv6Pools] = list(c.names(false)...)
	default:
		notes[ipFamilies] = space.Pick(c.Choices, list("IPv6"), list("IPv4", "IPv6"))
	}
}

// names returns the names of the pools of a family.
func (c *world) names(four bool) []string {
	var out []string
	for _, p := range c.pools {
		if p.prefix.Addr().Is4() == four {
			out = append(out, p.name)
		}
	}
	return out
}
