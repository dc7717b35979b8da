package calico

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"ipamsim/fuzz/space"
)

// plugin draws the configuration of the CNI plugin: the address families of pods, and whether they may have
// addresses that IPAM does not know.
func (c *world) plugin() {
	c.six, c.past = c.Chance(1, 6), c.Chance(1, 8)
	only := c.Families().Chance(sixOnly, 100)
	c.six = c.six || only
	if c.six && c.Families().Chance(1, 2) {
		c.racks6 = true
		for i, m := range c.machine {
			c.number6(m, zone(i), i+1)
		}
	}
	if !c.six && !c.past {
		return
	}
	c.configuration(object{"type": "calico-ipam", "assign_ipv4": fmt.Sprint(!only), "assign_ipv6": fmt.Sprint(c.six)})
}

// sixOnly is the percentage of clusters with IPv6 addresses only, in addition to those of rarePlugin.
const sixOnly = 4

// configuration sets the plugin's ipam section in its ConfigMap.
func (c *world) configuration(ipam object) {
	list, err := json.Marshal(object{"name": "k8s-pod-network", "cniVersion": "0.3.1", "plugins": []object{{
		"type": "calico", "ipam": ipam, "policy": object{"type": "k8s"}, "feature_control": object{"ip_addrs_no_ipam": c.past},
	}}})
	if err != nil {
		panic(err) // strings and booleans always marshal
	}
	if c.config == nil {
		c.config = object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "calico-config", "namespace": "kube-system"}}
		c.Add(c.config)
	}
	c.config["data"] = object{"cni_network_config": string(list)}
}

// affinity draws the IPAM configuration, or none: whether nodes may borrow, how many blocks each
// may have, and whether they may claim blocks at all. Upstream allows a limit of blocks, and nodes
// that claim none, only with strict affinity.
//
// Source: libcalico-go/lib/ipam/ipam.go, SetIPAMConfig (v3.31).
func (c *world) affinity() {
	if c.Chance(1, 3) {
		return
	}
	strict := c.Chance(1, 2)
	spec := object{"strictAffinity": strict}
	if strict && c.Chance(2, 3) {
		spec["maxBlocksPerHost"] = space.Pick(c.Choices, 1, 2, 4)
	}
	m := object{"apiVersion": "projectcalico.org/v3", "kind": "IPAMConfiguration", "metadata": object{"name": "default"}, "spec": spec}
	if c.Chance(1, 2) {
		m["apiVersion"], m["kind"] = "crd.projectcalico.org/v1", "IPAMConfig"
		spec["autoAllocateBlocks"] = !strict || !c.Chance(1, 12)
	}
	c.settings = m
	c.Add(m)
}

// reservation draws an IPReservation, or none: some addresses or a whole block.
func (c *world) reservation() {
	if c.reserved = c.Chance(1, 6); c.reserved {
		c.Add(c.reservationOf(c.anyPool()))
	}
}

func (c *world) reservationOf(p ipPool) object {
	reserved := space.Pick(c.Choices, netip.PrefixFrom(c.address(p), p.prefix.Addr().BitLen()), c.block(p)).String()
	return object{
		"apiVersion": "projectcalico.org/v3", "kind": "IPReservation", "metadata": object{"name": "kept"},
		"spec": object{"reservedCIDRs": []string{reserved}},
	}
}

// collectors draws the garbage collector of kube-controllers: a process, two processes (as during a
// rollout), single passes, or none; and its configuration, with a short grace period, with none, or
// no configuration, which means fifteen minutes.
func (c *world) collectors() {
	c.kubeControllers()
	every := time.Duration(0)
	switch c.Int(8) {
	case 0, 1, 2, 3:
		c.Doc.Spec.Daemons = append(c.Doc.Spec.Daemons, "ipam-controller")
		every = c.grace / 2
	case 4:
		c.Doc.Spec.Daemons = append(c.Doc.Spec.Daemons, "ipam-controller", "ipam-controller")
		every = c.grace / 2
	case 5, 6:
		every = space.Millis(c.Duration(time.Second, 10*time.Second)).Duration
		c.Doc.Spec.Reconcilers = append(c.Doc.Spec.Reconcilers, c.passes(every))
	}
	switch {
	case c.grace > 0 && every > 0:
		c.collected = slack + c.grace + 3*every
	case c.unsaid && (every > 0 || c.Doc.Spec.Daemons != nil):
		c.collected = 2 * slack
	}
}

// slack is the time that long latencies, retries with a back-off and a restart may add to a collection.
const slack = 45 * time.Second
