// Package calico plays Calico's reference allocator in trials of model/capacity.
package calico

import (
	"net/netip"
	"time"

	"ipamsim/model/capacity"
	reference "ipamsim/model/reference/calico"
)

// Config is how Calico is configured.
type Config struct {
	Datastore reference.Datastore
	Pools     []reference.Pool
	Settings  reference.Config
	Reserved  []netip.Prefix
	// V4 and V6 are the address families that every pod gets; if neither is set, pods get
	// IPv4.
	V4, V6 bool
	// Tunnels: calico-node gives each node an address for its IPIP or VXLAN device, if
	// a pool has one for it (the daemon tunnel-addresses of a scenario).
	Tunnels bool
	// Routing is how the addresses of pools are announced and carried, by the pool's
	// name; none is announced, and carried Always through a device that the pool has.
	Routing map[string]Routing
}

// Routing is what routes depend on of an IPPool.
type Routing struct {
	NoExport    bool   // disableBGPExport
	IPIP, VXLAN string // Never (also ""), Always or CrossSubnet
}

// GraceDefault is how long Calico's collector looks at a leak before it releases
// it.
//
// Source: kube-controllers/pkg/config, leakGracePeriod.
const GraceDefault = 15 * time.Minute

// Grace is GraceDefault.
func (*Config) Grace() time.Duration { return GraceDefault }

// Of is how the cluster's Calico is configured, nil if it has another manager.
func Of(c *capacity.Cluster) *Config {
	if c == nil {
		return nil
	}
	config, _ := c.Manager.(*Config)
	return config
}
