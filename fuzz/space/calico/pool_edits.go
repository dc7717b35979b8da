package calico

import (
	"fmt"
	"maps"
	"time"

	"ipamsim/fuzz/space"
)

// ipPools is the resource of IPPools, for kubectl.
const ipPools = "ippools.crd.projectcalico.org"

// editPool changes the purpose of a pool, and undoes the change later in half of the cases.
func (c *world) editPool(at time.Duration) {
	p := c.anyPool()
	edit := space.Pick(c.Choices,
		[2]object{{"disabled": true}, {"disabled": false}},
		[2]object{{"nodeSelector": `zone == "a"`}, {"nodeSelector": "all()"}},
		[2]object{{"vxlanMode": "Always", "ipipMode": "Never"}, {"vxlanMode": "Never"}},
		[2]object{{"ipipMode": "Always", "vxlanMode": "Never"}, {"ipipMode": "Never"}},
		[2]object{{"assignmentMode": "Manual"}, {"assignmentMode": "Automatic"}},
		[2]object{{"namespaceSelector": `team == "blue"`, "allowedUses": []string{"Workload"}}, {"namespaceSelector": "all()"}},
	)
	spec := p.manifest["spec"].(object)
	exports, vxlan := spec["disableBGPExport"] == nil, spec["vxlanMode"] != nil
	switch {
	case edit[0]["ipipMode"] != nil && (c.tunnels || !c.tunnelled() || !exports || !p.prefix.Addr().Is4()):
		return // it would not work
	case edit[0]["allowedUses"] != nil && vxlan:
		return // the tunnels would lose their addresses
	}
	c.merges(at, ipPools, p.name, object{"spec": edit[0]})
	if c.Chance(1, 2) {
		c.merges(c.later(at), ipPools, p.name, object{"spec": edit[1]})
	}
}

// deletePool deletes a pool that may be in use. In half of the cases it is created again, in half
// of those with blocks of another size.
func (c *world) deletePool(at time.Duration) {
	p := c.anyPool()
	c.deletes(at, ipPools, p.name)
	if c.Chance(1, 2) {
		c.At(c.later(at), space.Applied(c.resized(p)))
	}
}

// resized returns a pool's manifest, with blocks of twice or half the size in half of the cases.
func (c *world) resized(p ipPool) object {
	if !c.Chance(1, 2) {
		return p.manifest
	}
	spec := maps.Clone(p.manifest["spec"].(object))
	spec["blockSize"] = c.otherSize(p)
	return object{"apiVersion": p.manifest["apiVersion"], "kind": "IPPool", "metadata": object{"name": p.name}, "spec": spec}
}

func (c *world) otherSize(p ipPool) int {
	if p.bits > p.prefix.Bits() && (p.bits == p.prefix.Addr().BitLen() || c.Chance(1, 2)) {
		return p.bits - 1
	}
	return min(p.bits+1, p.prefix.Addr().BitLen())
}

// resizePool edits the block size of a pool that may have blocks, which kubectl does not refuse.
// With etcdv3 there is only calicoctl, which does.
func (c *world) resizePool(at time.Duration) {
	if c.Doc.Spec.Datastore == "etcdv3" {
		c.editPool(at)
		return
	}
	p := c.anyPool()
	c.merges(at, ipPools, p.name, object{"spec": object{"blockSize": c.otherSize(p)}})
}

// newPool adds a pool.
func (c *world) newPool(at time.Duration) {
	c.At(at, space.Applied(c.pool("late", fmt.Sprintf("10.64.%d.0", 90+c.Int(2)), 32).manifest))
}

// reconfigure changes the grace period, which restarts the controller.
func (c *world) reconfigure(at time.Duration) {
	grace := space.Millis(c.Duration(5*time.Second, 25*time.Second)).Duration.String()
	c.merges(at, "kubecontrollersconfigurations.crd.projectcalico.org", "default",
		object{"spec": object{"controllers": object{"node": object{"leakGracePeriod": grace}}}})
}

// reserve reserves addresses that may be in use, or deletes the reservation.
func (c *world) reserve(at time.Duration) {
	if c.reserved && c.Chance(1, 2) {
		c.deletes(at, "ipreservations.crd.projectcalico.org", "kept")
		return
	}
	c.At(at, space.Applied(c.reservationOf(c.anyPool())))
}
