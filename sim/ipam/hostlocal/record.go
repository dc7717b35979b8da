package hostlocal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/netip"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// Place is the location of host-local's allocations of a network.
type Place struct {
	Network model.Network
	Dir     string // on each node
	// PodCIDRs: the ranges of a node are its podCIDRs, within the network's ranges; otherwise each
	// node has the network's ranges.
	PodCIDRs bool
}

// Record is what Node objects and the disks of nodes say of networks.
type Record struct {
	places []Place
	disks  *Disks

	mu    sync.Mutex
	nodes map[string][]model.Pool // those of the nodes that exist
	had   map[string][]model.Pool // all that nodes of a name ever had, each once
}

// NewRecord reads the stored nodes and follows their changes.
func NewRecord(api *kube.Server, disks *Disks, places []Place) (*Record, error) {
	r := &Record{places: places, disks: disks, nodes: map[string][]model.Pool{}, had: map[string][]model.Pool{}}
	all, err := api.List(context.Background(), nodesResource)
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		if n, ok := o.(*corev1.Node); ok {
			r.changed(kube.Change{Resource: nodesResource, Name: n.Name, Object: n})
		}
	}
	api.OnChange(r.changed)
	return r, nil
}

// ReadRecord is what the Node objects among manifests say, without a run: their ranges, and the files
// that are on their disks at the start.
func ReadRecord(objects []ipam.Object, places []Place) (model.Snapshot, error) {
	r := &Record{places: places, disks: NewDisks(ipam.Backends{}), nodes: map[string][]model.Pool{}, had: map[string][]model.Pool{}}
	for _, o := range objects {
		if o.Kind != "Node" {
			continue
		}
		n := &corev1.Node{}
		if err := json.Unmarshal(o.Body, n); err != nil {
			return model.Snapshot{}, &ipam.ObjectError{Object: o, Err: err}
		}
		r.changed(kube.Change{Resource: nodesResource, Name: o.Name, Object: n})
		files, err := ipam.Files(n.Annotations)
		if err != nil {
			return model.Snapshot{}, &ipam.ObjectError{Object: o, Err: err}
		}
		for name, content := range files {
			r.disks.Of(o.Name).Put(name, []byte(content))
		}
	}
	return r.Observe(context.Background())
}

const nodesResource = "nodes"

func (r *Record) changed(c kube.Change) {
	if c.Group != "" || c.Resource != nodesResource {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.nodes, c.Name)
	if n, ok := c.Object.(*corev1.Node); ok {
		r.nodes[c.Name] = r.poolsOf(n)
		for _, p := range r.nodes[c.Name] {
			if !slices.Contains(r.had[c.Name], p) {
				r.had[c.Name] = append(r.had[c.Name], p)
			}
		}
	}
}

// poolsOf are the ranges of a node, each once.
func (r *Record) poolsOf(n *corev1.Node) (out []model.Pool) {
	for i := range r.places {
		place := &r.places[i]
		for _, of := range place.ranges(n) {
			p := model.Pool{Name: n.Name + "/" + of.String(), Network: place.Network.Name, Range: of, Node: n.Name}
			if p.Network != "" {
				p.Name = n.Name + "/" + p.Network + "/" + of.String()
			}
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// ranges are the ranges of a node in a network. A podCIDR that cannot be parsed is ignored.
func (p *Place) ranges(n *corev1.Node) (out []netip.Prefix) {
	if !p.PodCIDRs {
		for _, r := range p.Network.Ranges {
			out = append(out, r.Prefix)
		}
		return out
	}
	for _, text := range n.Spec.PodCIDRs {
		if c, err := netip.ParsePrefix(text); err == nil {
			out = append(out, c.Masked())
		}
	}
	return out
}

// Observe is what the Node objects say, and the files of host-local on the disks of
// nodes: a podCIDR that a node had is there for as long as the disk says that addresses
// of it are in use. It passes no gate.
func (r *Record) Observe(context.Context) (s model.Snapshot, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.Claims, err = r.claims(); err != nil {
		return s, err
	}
	for node, pools := range r.had {
		for _, p := range pools {
			if slices.Contains(r.nodes[node], p) || slices.ContainsFunc(s.Claims, func(c model.Claim) bool { return c.Pool == p.Name }) {
				s.Pools = append(s.Pools, p)
			}
		}
	}
	slices.SortFunc(s.Pools, func(a, b model.Pool) int { return cmp.Or(a.Range.Compare(b.Range), cmp.Compare(a.Name, b.Name)) })
	for i := range r.places {
		n := r.places[i].Network
		if r.places[i].PodCIDRs {
			n.Ranges = withGateways(n.Ranges, s.Pools)
		}
		s.Networks = append(s.Networks, n)
	}
	return s, nil
}

// withGateways are ranges in which the first address of each podCIDR belongs to the node: the
// bridge has it, and host-local never assigns it.
//
// Source: plugins/ipam/host-local/backend/allocator, (*Range).Canonicalize (v1.10.0).
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
func (r *Record) claims() (out []model.Claim, err error) {
	for _, d := range r.disks.each() {
		seen := map[string]bool{} // two networks of one name share a directory
		for i := range r.places {
			p := &r.places[i]
			if seen[p.Dir] {
				continue
			}
			seen[p.Dir] = true
			claims, err := Claims(d, p.Dir)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			for j := range claims {
				claims[j].Network, claims[j].Pool = p.Network.Name, r.poolOf(d.Node(), p, claims[j].Addr)
			}
			out = append(out, claims...)
		}
	}
	slices.SortStableFunc(out, func(a, b model.Claim) int { return cmp.Or(cmp.Compare(a.Pool, b.Pool), a.Addr.Compare(b.Addr)) })
	return out, nil
}

// poolOf is the name of the last of a node's ranges that an address lies in.
func (r *Record) poolOf(node string, p *Place, a netip.Addr) (name string) {
	for _, pool := range r.had[node] {
		if pool.Network == p.Network.Name && pool.Range.Contains(a) {
			name = pool.Name
		}
	}
	return name
}
