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

// host is what there is of a node, be it only its name in a block.
type host struct {
	name       string
	known      bool // Calico's node object exists
	kubernetes bool // the Kubernetes node exists
	labels     map[string]string
	affinities [2][]affinity // IPv4 and IPv6, in the order in which they are tried
	owned      []*block      // blocks that name it as their owner
	starts     map[start]netip.Addr
	endpoints  map[model.PodRef]endpoint // etcdv3
	tunnels    [devices]netip.Addr
}

// affinity is a node's claim to a block, which may not exist.
type affinity struct {
	key   string // by which the datastore sorts
	block netip.Prefix
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

// forget drops a host of which nothing is left.
func (a *Allocator) forget(h *host) {
	if !h.known && !h.kubernetes && len(h.owned)+len(h.affinities[0])+len(h.affinities[1])+len(h.endpoints) == 0 {
		delete(a.hosts, h.name)
		for _, p := range a.pools {
			delete(p.chosen, h)
		}
	}
}

// SetNode adds a node or changes its labels. With etcdv3 Calico's own node, which
// calico-node makes, is there at once.
func (a *Allocator) SetNode(name string, labels map[string]string) {
	h := a.host(name)
	h.known, h.kubernetes, h.labels = true, true, maps.Clone(labels)
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
	h.kubernetes = false
	if a.datastore == Kubernetes {
		h.known, h.tunnels = false, [devices]netip.Addr{}
		a.forget(h)
	}
	return nil
}

// deleteCalicoNode releases the addresses that the node's endpoints and devices
// name, whoever has them, and its affinities. VXLAN's IPv6 address is forgotten.
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
	h.known, h.tunnels = false, [devices]netip.Addr{}
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

func family(a netip.Addr) int {
	if a.Is4() {
		return 0
	}
	return 1
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
	all = &h.affinities[family(p.Addr())]
	i, found = slices.BinarySearchFunc(*all, a.affinityKey(p), func(x affinity, key string) int { return cmp.Compare(x.key, key) })
	return all, i, found
}

func (a *Allocator) addAffinity(h *host, p netip.Prefix) {
	if all, i, found := a.findAffinity(h, p); !found {
		*all = slices.Insert(*all, i, affinity{a.affinityKey(p), p})
	}
}

func (a *Allocator) dropAffinity(h *host, p netip.Prefix) {
	if all, i, found := a.findAffinity(h, p); found {
		*all = slices.Delete(*all, i, i+1)
	}
}
