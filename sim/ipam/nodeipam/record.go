package nodeipam

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/netip"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/sim/disk"
	"ipamsim/sim/ipam/hostlocal"
	"ipamsim/sim/kube"
)

// record are the podCIDRs of nodes, kept up to date by their changes.
type record struct {
	policy []model.Network

	mu    sync.Mutex
	nodes map[string][]model.Pool // those of the nodes that exist
	had   map[string][]model.Pool // all that nodes of a name ever had, each once
}

func newRecord(policy []model.Network) *record {
	return &record{policy: policy, nodes: map[string][]model.Pool{}, had: map[string][]model.Pool{}}
}

// follow reads what is stored and subscribes to what changes.
func (r *record) follow(api *kube.Server) error {
	all, err := api.List(context.Background(), nodesResource)
	if err != nil {
		return err
	}
	for _, o := range all {
		if n, ok := o.(*corev1.Node); ok {
			r.changed(kube.Change{Resource: nodesResource, Name: n.Name, Object: n})
		}
	}
	api.OnChange(r.changed)
	return nil
}

const nodesResource = "nodes"

func (r *record) changed(c kube.Change) {
	if c.Group != "" || c.Resource != nodesResource {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.nodes, c.Name)
	if n, ok := c.Object.(*corev1.Node); ok {
		r.nodes[c.Name] = poolsOf(n)
		for _, p := range r.nodes[c.Name] {
			if !slices.Contains(r.had[c.Name], p) {
				r.had[c.Name] = append(r.had[c.Name], p)
			}
		}
	}
}

// poolsOf are a node's podCIDRs. One that cannot be read is none.
func poolsOf(n *corev1.Node) (out []model.Pool) {
	for _, text := range n.Spec.PodCIDRs {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, model.Pool{Name: n.Name + "/" + p.Masked().String(), Range: p.Masked(), Node: n.Name})
		}
	}
	return out
}

// observe is what the Node objects say, and the files of host-local on the disks of
// nodes: a podCIDR that a node had is there for as long as the disk says that addresses
// of it are in use. It passes no gate.
func (i *instance) observe(context.Context) (model.Snapshot, error) {
	r := i.record
	r.mu.Lock()
	defer r.mu.Unlock()
	s := model.Snapshot{Networks: slices.Clone(r.policy)}
	claims, err := i.claims(r.had)
	if err != nil {
		return s, err
	}
	s.Claims = claims
	for node, pools := range r.had {
		for _, p := range pools {
			if slices.Contains(r.nodes[node], p) || slices.ContainsFunc(claims, func(c model.Claim) bool { return c.Pool == p.Name }) {
				s.Pools = append(s.Pools, p)
			}
		}
	}
	slices.SortFunc(s.Pools, func(a, b model.Pool) int { return cmp.Or(a.Range.Compare(b.Range), cmp.Compare(a.Name, b.Name)) })
	for n := range s.Networks {
		s.Networks[n].Ranges = withGateways(s.Networks[n].Ranges, s.Pools)
	}
	return s, nil
}

// withGateways are ranges in which the first address of each podCIDR is its node's own:
// the bridge has it, and host-local never gives it away.
//
// Source: plugins/ipam/host-local/backend/allocator, (*Range).Canonicalize.
func withGateways(all []model.Range, pools []model.Pool) []model.Range {
	all = slices.Clone(all)
	for i := range all {
		all[i].Exclude = slices.Clone(all[i].Exclude)
		for _, p := range pools {
			if first := p.Range.Addr().Next(); all[i].Prefix.Contains(first) {
				all[i].Exclude = append(all[i].Exclude, netip.PrefixFrom(first, first.BitLen()))
			}
		}
	}
	return all
}

// claims are sorted by pool, then address.
func (i *instance) claims(pools map[string][]model.Pool) (out []model.Claim, err error) {
	i.mu.Lock()
	disks := maps.Clone(i.disks)
	i.mu.Unlock()
	for _, node := range slices.Sorted(maps.Keys(disks)) {
		claims, err := claimsOn(disks[node], node, pools[node])
		if err != nil {
			return nil, err
		}
		out = append(out, claims...)
	}
	slices.SortStableFunc(out, func(a, b model.Claim) int { return cmp.Or(cmp.Compare(a.Pool, b.Pool), a.Addr.Compare(b.Addr)) })
	return out, nil
}

// claimsOn are those of one node. The pool of an address is the last podCIDR of the node's
// that it lies in.
func claimsOn(d *disk.Disk, node string, pools []model.Pool) ([]model.Claim, error) {
	out, err := hostlocal.Claims(d, networkKey)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for i := range out {
		out[i].Node = node
		for _, p := range pools {
			if p.Range.Contains(out[i].Addr) {
				out[i].Pool = p.Name
			}
		}
	}
	return out, err
}
