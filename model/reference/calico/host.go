package calico

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
)

// host is the state of a node, even if only a block names it.
type host struct {
	gone       bool          // nothing is left of it; one of the same name is another
	known      bool          // Calico's node object exists
	kubernetes bool          // the Kubernetes node exists
	affinities [2][]affinity // IPv4 and IPv6, in the order in which they are tried
	name       string
	labels     map[string]string
	owned      []*block // blocks that name it as their owner
	starts     map[start]netip.Addr
	endpoints  map[model.PodRef]endpoint // etcdv3
	tunnels    [devices]netip.Addr
}

// affinity is a node's claim to a block, which may not exist.
type affinity struct {
	block *block
	key   string // by which the datastore sorts
}

// endpoint is a WorkloadEndpoint.
type endpoint struct {
	handle string
	addrs  []netip.Addr
}

func (a *Allocator) host(name string) *host {
	h := a.hosts[name]
	if h == nil {
		h = &host{name: name, starts: map[start]netip.Addr{}, endpoints: map[model.PodRef]endpoint{}}
		a.hosts[name] = h
	}
	return h
}

// forget drops a host that holds nothing.
func (a *Allocator) forget(h *host) {
	if !h.known && !h.kubernetes && len(h.owned)+len(h.affinities[0])+len(h.affinities[1])+len(h.endpoints) == 0 {
		h.gone = true
		delete(a.hosts, h.name)
		for _, p := range a.pools {
			delete(p.chosen, h)
		}
	}
}

// SetNode adds a node or changes its labels. With etcdv3, Calico's own node, which calico-node
// creates, exists immediately.
func (a *Allocator) SetNode(name string, labels map[string]string) {
	h := a.host(name)
	h.labels = maps.Clone(labels)
	a.turn(h, true, true)
	for _, p := range a.pools {
		delete(p.chosen, h)
	}
}

// DeleteNode deletes the Kubernetes node. With etcdv3 Calico's own node stays
// until the next pass of a collector, and may be used until then.
func (a *Allocator) DeleteNode(name string) error {
	h := a.hosts[name]
	if h == nil || !h.kubernetes {
		return fmt.Errorf("node %s: %w", name, ErrNotFound)
	}
	a.turn(h, a.datastore == Etcd, false)
	if !h.known {
		h.tunnels = [devices]netip.Addr{}
		a.forget(h)
	}
	return nil
}

// turn says which objects of a node there are.
func (a *Allocator) turn(h *host, known, kubernetes bool) {
	if affinities := len(h.affinities[0]) + len(h.affinities[1]); h.known && !known {
		a.totals.Stale += affinities
	} else if known && !h.known {
		a.totals.Stale -= affinities
	}
	h.known, h.kubernetes = known, kubernetes
	if known && !kubernetes {
		a.orphans[h] = struct{}{}
	} else {
		delete(a.orphans, h)
	}
	if a.listener != nil {
		a.turned = append(a.turned, h.name)
	}
}

// deleteCalicoNode releases the addresses that the node's endpoints and devices name, even if
// they are assigned to others, and the node's affinities. It drops VXLAN's IPv6 address
// without releasing it.
//
// Source: libcalico-go/lib/clientv3/node.go, Delete.
func (a *Allocator) deleteCalicoNode(h *host) error {
	var addrs []Release
	for _, ref := range slices.SortedFunc(maps.Keys(h.endpoints), comparePods) {
		for _, x := range h.endpoints[ref].addrs {
			addrs = append(addrs, Release{Addr: x})
		}
	}
	for _, d := range []device{ipipDevice, vxlanDevice} {
		if x := h.tunnels[d]; x.IsValid() {
			addrs = append(addrs, Release{Addr: x})
		}
	}
	if _, err := a.Release(addrs...); err != nil {
		return err
	}
	clear(h.endpoints)
	if err := a.releaseHost(h, false); err != nil {
		return err
	}
	h.tunnels = [devices]netip.Addr{}
	a.turn(h, false, false)
	a.forget(h)
	return nil
}

// comparePods is the order of the pods' endpoints in etcd.
//
// Source: libcalico-go/lib/names/workloadendpoint.go.
func comparePods(x, y model.PodRef) int {
	key := func(r model.PodRef) string {
		return r.Namespace + "/" + strings.ReplaceAll(r.Name, "-", "--") + "-eth0"
	}
	return cmp.Compare(key(x), key(y))
}

// affinityKey is how the datastore sorts the affinities of a node: by the text of
// the block, in which the Kubernetes datastore has no colons.
//
// Source: libcalico-go/lib/backend/model/block_affinity.go; lib/names/cidr.go.
func (a *Allocator) affinityKey(p netip.Prefix) string {
	key := strings.Replace(p.String(), "/", "-", 1)
	if a.datastore == Kubernetes {
		key = strings.NewReplacer(".", "-", ":", "-").Replace(key)
	}
	return key
}

func (a *Allocator) findAffinity(h *host, p netip.Prefix) (all *[]affinity, i int, found bool) {
	all = &h.affinities[model.Family(p.Addr())]
	i, found = slices.BinarySearchFunc(*all, a.affinityKey(p), func(x affinity, key string) int { return cmp.Compare(x.key, key) })
	return all, i, found
}

func (a *Allocator) addAffinity(h *host, p netip.Prefix) {
	if all, i, found := a.findAffinity(h, p); !found {
		b := a.place(p)
		b.names++
		*all = slices.Insert(*all, i, affinity{b, a.affinityKey(p)})
		a.totals.Affinities++
		if !h.known {
			a.totals.Stale++
		}
	}
}

func (a *Allocator) dropAffinity(h *host, p netip.Prefix) {
	if all, i, found := a.findAffinity(h, p); found {
		b := (*all)[i].block
		*all = slices.Delete(*all, i, i+1)
		b.names--
		a.vacate(b)
		a.totals.Affinities--
		if !h.known {
			a.totals.Stale--
		}
	}
}
