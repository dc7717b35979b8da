package dump

import (
	"net/netip"
	"slices"
	"strings"

	"ipamsim/scenarios/dump/kept"
)

// network is the attached network of a key, nil if no manager serves it.
func (d *Draft) network(key string) *Network {
	for i := range d.networks {
		if d.networks[i].Key == key {
			return &d.networks[i]
		}
	}
	return nil
}

// Called is the key by which a pod's network status calls the network that a range of
// addresses is of; "": none does.
func (c *Cluster) Called(p netip.Prefix) string {
	for _, ref := range c.Pods.Keys() {
		x := &c.Pods[ref].Value
		for _, s := range kept.Statuses(x.Annotations[kept.StatusAnnotation]) {
			if !s.Default && slices.ContainsFunc(s.Addrs(), p.Contains) {
				if name := kept.Qualified(s.Name, x.Namespace); strings.Count(name, "/") == 1 {
					return name
				}
			}
		}
	}
	return ""
}
