package calico

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
)

// Request is what an address is asked for with.
type Request struct {
	Node   string
	Handle string
	Pod    model.PodRef
	V4, V6 int // how many addresses
	// Pools are those asked for, of both families; none: those that select the node
	// and the namespace.
	Pools           []netip.Prefix
	NamespaceLabels map[string]string
	MaxBlocks       int // of the request; 0: the configuration's
	Use             Use
	// Has is what the pod's status, or else its annotations, says it has already;
	// none if it has finished. Add reads it with the Kubernetes datastore, if the pod
	// asks for certain addresses.
	Has []netip.Addr
}

func (q *Request) allocation() *allocation {
	return &allocation{handle: q.Handle, node: q.Node, pod: q.Pod, tunnel: q.Use == Tunnel}
}

// checkHandle refuses handles of which upstream makes something else.
func (a *Allocator) checkHandle(id string) error {
	if id == "" || strings.ContainsRune(id, '\r') || a.datastore == Kubernetes && id != strings.ToLower(id) {
		return fmt.Errorf("%w: handle %q", ErrNotModelled, id)
	}
	return nil
}

// AutoAssign is libcalico-go's: first the IPv4 addresses, then the IPv6 ones. It
// may return fewer than were asked for, without an error, and some together with
// one.
//
// Source: libcalico-go/lib/ipam/ipam.go, AutoAssign (v3.31).
func (a *Allocator) AutoAssign(q Request) (v4, v6 []netip.Addr, err error) {
	if err := a.checkHandle(q.Handle); err != nil {
		return nil, nil, err
	}
	if q.V4 > 0 {
		if v4, err = a.autoAssign(&q, false, q.V4); err != nil {
			return v4, nil, err
		}
	}
	if q.V6 > 0 {
		v6, err = a.autoAssign(&q, true, q.V6)
	}
	return v4, v6, err
}

func (a *Allocator) autoAssign(q *Request, v6 bool, num int) (out []netip.Addr, err error) {
	h := a.hosts[q.Node]
	if h == nil || !h.known {
		return nil, fmt.Errorf("%s: %w", q.Node, ErrNoNode)
	}
	pools, own, err := a.prepare(q, h, v6)
	if err != nil {
		return nil, err
	}
	blocks, limit, x := len(own), a.limit(q), q.allocation()
	for len(out) < num {
		var b *block
		for b == nil && len(own) > 0 {
			b, own = a.affine(h, own[0]), own[1:]
		}
		if b == nil {
			if blocks >= limit {
				return out, ErrBlockLimit
			}
			if !a.Config.AutoAllocate {
				return out, ErrNoNewBlocks
			}
			p, found := a.usable(h, pools)
			if !found {
				break
			}
			if b = a.blocks[p]; b == nil {
				b = a.claim(h, p)
			}
			a.addAffinity(h, p)
			blocks++
		}
		out = append(out, a.take(b, num-len(out), x)...)
	}
	if !a.Config.Strict && len(out) < num {
		out = append(out, a.borrow(h, pools, num-len(out), x)...)
	}
	return out, nil
}

// reasonable is how many blocks a node may have where nobody says ("defaulting to
// reasonable limit").
const reasonable = 20

// limit is the stricter one of what the request and the configuration say.
func (a *Allocator) limit(q *Request) int {
	switch of, most := q.MaxBlocks, a.Config.MaxBlocks; {
	case of == 0 && most == 0:
		return reasonable
	case of == 0 || most > 0 && most < of:
		return most
	default:
		return of
	}
}

// affine is the block that a node has an affinity for, made if it is missing. It
// is nil if it has no room, or is another's: then the affinity goes.
//
// Source: ipam.go, findOrClaimBlock and getBlockFromAffinity.
func (a *Allocator) affine(h *host, p netip.Prefix) *block {
	if a.allReserved(p) != nil {
		return nil
	}
	b := a.blocks[p]
	if b == nil {
		return a.claim(h, p)
	}
	if b.owner != h {
		a.dropAffinity(h, p)
		return nil
	}
	if b.free == 0 {
		return nil
	}
	return b
}

// prepare says which pools a request is served from and which of the node's
// blocks lie in them. On the way it releases the node's empty blocks in pools that
// do not select it any more.
//
// Source: ipam.go, prepareAffinityBlocksForHost and determinePools.
func (a *Allocator) prepare(q *Request, h *host, v6 bool) (pools []*pool, own []netip.Prefix, err error) {
	selecting, err := a.selecting(q, h, v6)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range selecting {
		if p.allows(q.Use) {
			pools = append(pools, p)
		}
	}
	if len(pools) == 0 {
		return nil, nil, fmt.Errorf("%w: none is for this use", ErrNoPool)
	}
	all := h.affinities[0]
	if v6 {
		all = h.affinities[1]
	}
	var leave []netip.Prefix
	for _, x := range all {
		if containing(pools, x.block.Addr()) != nil {
			own = append(own, x.block)
		} else if containing(selecting, x.block.Addr()) == nil {
			leave = append(leave, x.block)
		}
	}
	for _, p := range leave {
		if in := a.poolOf(p.Addr(), false); in != nil && !in.selects(h) {
			_ = a.releaseAffinity(h, p, true)
		}
	}
	return pools, own, nil
}

// selecting are the pools that were asked for, or those that take the node and the
// namespace.
func (a *Allocator) selecting(q *Request, h *host, v6 bool) (out []*pool, err error) {
	enabled := 0
	for _, p := range a.pools {
		if p.Disabled || p.v6() != v6 {
			continue
		}
		enabled++
		if !p.Manual && p.selects(h) && p.namespaces(q.NamespaceLabels) {
			out = append(out, p)
		}
	}
	if enabled == 0 {
		return nil, fmt.Errorf("%w: none is enabled", ErrNoPool)
	}
	var asked []*pool
	for _, x := range q.Pools {
		if x.Addr().Is6() != v6 {
			continue
		}
		i := slices.IndexFunc(a.pools, func(p *pool) bool { return !p.Disabled && p.Prefix == x })
		if i < 0 {
			return nil, fmt.Errorf("%w: %s does not exist or is disabled", ErrNoPool, x)
		}
		asked = append(asked, a.pools[i])
	}
	if asked != nil {
		return asked, nil
	}
	if out == nil {
		return nil, fmt.Errorf("%w: none selects node %s", ErrNoPool, h.name)
	}
	return out, nil
}
