package whereabouts

import (
	"cmp"
	"context"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/k8snetworkplumbingwg/whereabouts/pkg/iphelpers"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"ipamsim/model"
	storage "ipamsim/sim/ipam/whereabouts/upstream/pkg/storage/kubernetes"
	"ipamsim/sim/kube"
)

const (
	apiGroup             = "whereabouts.cni.cncf.io" // Calico has ippools as well
	poolsResource        = "ippools"
	reservationsResource = "overlappingrangeipreservations"
)

// record is what the datastore claims, kept up to date by its changes so that
// looking costs nothing while nothing changes.
type record struct {
	networks []model.Network

	mu           sync.Mutex
	pools        map[string]pool
	reservations map[string]model.Reservation
	fresh        bool
	snapshot     model.Snapshot
}

type pool struct {
	model.Pool
	claims []model.Claim
}

func newRecord(networks []model.Network) *record {
	// The longest name first: blue-2-fd00--1 is of blue-2 rather than of blue.
	networks = slices.SortedStableFunc(slices.Values(networks), func(a, b model.Network) int { return cmp.Compare(len(b.Name), len(a.Name)) })
	return &record{networks: networks, pools: map[string]pool{}, reservations: map[string]model.Reservation{}}
}

// follow reads the stored objects and follows their changes.
func (r *record) follow(api *kube.Server) error {
	for _, resource := range []string{poolsResource, reservationsResource} {
		all, err := api.List(context.Background(), resource+"."+apiGroup)
		if err != nil {
			return err
		}
		for _, o := range all {
			u, _ := o.(*unstructured.Unstructured)
			r.changed(kube.Change{Group: apiGroup, Resource: resource, Namespace: u.GetNamespace(), Name: u.GetName(), Object: o})
		}
	}
	api.OnChange(r.changed)
	return nil
}

func (r *record) changed(c kube.Change) {
	if c.Group != apiGroup || c.Resource != poolsResource && c.Resource != reservationsResource {
		return
	}
	key := c.Namespace + "/" + c.Name
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fresh = false
	if c.Resource == poolsResource {
		replace(r.pools, key, c.Object, r.pool)
	} else {
		replace(r.reservations, key, c.Object, r.reservation)
	}
}

// replace ignores objects that cannot be decoded: a pool without a range, a reservation without an
// address. Upstream cannot use them either.
func replace[T any](m map[string]T, key string, o runtime.Object, read func(*unstructured.Unstructured) (T, bool)) {
	delete(m, key)
	u, ok := o.(*unstructured.Unstructured)
	if !ok || u == nil {
		return
	}
	if v, ok := read(u); ok {
		m[key] = v
	}
}

// Observe is the record after the last change. The snapshot is shared between calls and must not be
// changed; the caller sets At.
//
// Claims are decoded as in upstream: the key of an allocation is its offset from the address in the
// pool's range. An allocation whose key is not a number, or gives no address, is ignored, as in
// upstream; one that is out of the range, or names no pod, is a claim.
//
// Source: pkg/storage/kubernetes/ipam.go, toIPReservationList (v0.9.4).
func (i *instance) Observe(context.Context) (model.Snapshot, error) {
	r := i.record
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fresh {
		return r.snapshot, nil
	}
	pools := slices.SortedFunc(maps.Values(r.pools), func(a, b pool) int { return cmp.Compare(a.Name, b.Name) })
	s := model.Snapshot{Reservations: slices.SortedFunc(maps.Values(r.reservations), func(a, b model.Reservation) int {
		return cmp.Or(cmp.Compare(a.Network, b.Network), a.Addr.Compare(b.Addr), cmp.Compare(a.Name, b.Name))
	})}
	for _, p := range pools {
		s.Pools = append(s.Pools, p.Pool)
		s.Claims = append(s.Claims, p.claims...)
	}
	slices.SortFunc(s.Pools, func(a, b model.Pool) int {
		return cmp.Or(cmp.Compare(a.Network, b.Network), a.Range.Compare(b.Range), cmp.Compare(a.Name, b.Name))
	})
	r.snapshot, r.fresh = s, true
	return s, nil
}

// pool reads an IPPool.
func (r *record) pool(u *unstructured.Unstructured) (pool, bool) {
	text, _, _ := unstructured.NestedString(u.Object, "spec", "range")
	first, ipnet, err := net.ParseCIDR(text)
	if err != nil {
		return pool{}, false
	}
	p := pool{Pool: model.Pool{Name: u.GetName(), Range: prefix(*ipnet)}}
	p.Network, p.Node = r.owner(p.Name, text, p.Range)
	rev, _ := strconv.ParseInt(u.GetResourceVersion(), 10, 64)
	spec, _ := u.Object["spec"].(object)
	allocations, _ := spec["allocations"].(object)
	p.claims = make([]model.Claim, 0, len(allocations))
	for offset, v := range allocations {
		n, err := strconv.ParseInt(offset, 10, 64)
		if err != nil {
			continue
		}
		a := addr(iphelpers.IPAddOffset(first, uint64(n)))
		if !a.IsValid() {
			continue
		}
		c := model.Claim{Pool: p.Name, Network: p.Network, Addr: a, Revision: rev}
		al, _ := v.(object)
		ref, _ := al["podref"].(string)
		c.Pod = podRef(ref)
		c.Container, _ = al["id"].(string)
		c.Interface, _ = al["ifname"].(string)
		p.claims = append(p.claims, c)
	}
	slices.SortFunc(p.claims, func(a, b model.Claim) int {
		return cmp.Or(a.Addr.Compare(b.Addr), cmp.Compare(a.Container, b.Container), cmp.Compare(a.Interface, b.Interface))
	})
	return p, true
}

// owner splits the name of a pool: [NETWORK-][NODE-]RANGE. Each part may contain a dash, so the
// networks of the scenario decide. If none of them matches, the whole name is the name of a
// network.
//
// Source: pkg/storage/kubernetes/ipam.go, IPPoolName (v0.9.4).
func (r *record) owner(name, text string, rng netip.Prefix) (network, node string) {
	rest := strings.TrimSuffix(strings.TrimSuffix(name, storage.IPPoolName(storage.PoolIdentifier{IpRange: text})), "-")
	for _, n := range r.networks {
		if n.Slice == 0 && n.Name == rest {
			return rest, ""
		}
	}
	for _, n := range r.networks {
		inside := func(x model.Range) bool { return x.Prefix.Bits() <= rng.Bits() && x.Prefix.Contains(rng.Addr()) }
		if n.Slice == 0 || !slices.ContainsFunc(n.Ranges, inside) {
			continue
		}
		if node, ok := strings.CutPrefix(rest, n.Name+"-"); ok && n.Name != "" {
			return n.Name, node
		}
		if n.Name == "" {
			return "", rest
		}
	}
	return rest, ""
}

// reservation reads an OverlappingRangeIPReservation. Its address is only in its name,
// [NETWORK-]ADDRESS.
//
// Source: pkg/storage/kubernetes/ipam.go, NormalizeIP (v0.9.4).
func (r *record) reservation(u *unstructured.Unstructured) (model.Reservation, bool) {
	v := model.Reservation{Name: u.GetName()}
	ref, _, _ := unstructured.NestedString(u.Object, "spec", "podref")
	v.Pod = podRef(ref)
	v.Interface, _, _ = unstructured.NestedString(u.Object, "spec", "ifname")
	for _, n := range r.networks {
		if rest, ok := strings.CutPrefix(v.Name, n.Name+"-"); ok && n.Name != "" {
			if a, ok := denormalized(rest); ok {
				v.Network, v.Addr = n.Name, a
				return v, true
			}
		}
	}
	var ok bool
	v.Network, v.Addr, ok = reserved(v.Name)
	return v, ok
}

func podRef(s string) model.PodRef {
	ns, name, ok := strings.Cut(s, "/")
	if !ok {
		ns, name = "", s
	}
	return model.PodRef{Namespace: ns, Name: name}
}
