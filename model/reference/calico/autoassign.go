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
	V4, V6    int // how many addresses
	MaxBlocks int // of the request; 0: the configuration's
	Use       Use
	// Pools are the requested pools, of both families; none: the pools that select the node and the
	// namespace.
	Pools           []netip.Prefix
	NamespaceLabels map[string]string
	Node            string
	Handle          string
	Pod             model.PodRef
	// Has is what the pod's status, or else its annotations, says it has already;
	// none if it has finished. Add reads it with the Kubernetes datastore, if the pod
	// asks for certain addresses.
	Has []netip.Addr
}

// checkHandle refuses handles that upstream changes before it stores them.
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
	k := a.ask(q)
	defer a.answered(&k)
	all, n, err := a.assignBoth(&k, nil)
	return all[:n:n], all[n:], err
}

// assignBoth appends the addresses to out, and says how many are IPv4.
func (a *Allocator) assignBoth(k *Asked, out []netip.Addr) (all []netip.Addr, v4 int, err error) {
	all = out
	if k.what.V4 > 0 {
		all, err = a.autoAssign(k, all, false, k.what.V4)
		if v4 = len(all) - len(out); err != nil {
			return all, v4, err
		}
	}
	if k.what.V6 > 0 {
		all, err = a.autoAssign(k, all, true, k.what.V6)
	}
	return all, v4, err
}

func (a *Allocator) autoAssign(k *Asked, out []netip.Addr, v6 bool, num int) ([]netip.Addr, error) {
	h := a.node(k)
	if h == nil || !h.known {
		return out, fmt.Errorf("%s: %w", k.who.node, ErrNoNode)
	}
	pools, own, err := a.prepare(k.what, h, v6)
	if err != nil {
		return out, err
	}
	blocks, limit := len(own), a.limit(k.what)
	for num += len(out); len(out) < num; {
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
			if b = a.block(p); b == nil {
				b = a.claim(h, p)
			}
			a.addAffinity(h, p)
			blocks++
		}
		out = a.take(out, b, num-len(out), k)
	}
	if !a.Config.Strict && len(out) < num {
		out = a.borrow(out, h, pools, num, k)
	}
	return out, nil
}

// limit is the stricter one of what the request and the configuration say.
func (a *Allocator) limit(q *Request) int {
	switch of, most := q.MaxBlocks, a.Config.MaxBlocks; {
	case of == 0 && most == 0:
		return model.MaxBlocksDefault
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
func (a *Allocator) affine(h *host, b *block) *block {
	if a.allReserved(b.prefix) != nil {
		return nil
	}
	if !b.exists {
		return a.claim(h, b.prefix)
	}
	if b.owner != h {
		a.dropAffinity(h, b.prefix)
		return nil
	}
	if b.free == 0 {
		return nil
	}
	return b
}

// prepare returns the pools that serve a request and the node's blocks in them. It also releases
// the node's empty blocks in pools that no longer select the node.
//
// Source: ipam.go, prepareAffinityBlocksForHost and determinePools.
func (a *Allocator) prepare(q *Request, h *host, v6 bool) (pools []*pool, own []*block, err error) {
	selecting, err := a.selecting(q, h, v6)
	if err != nil {
		return nil, nil, err
	}
	pools = a.allowed[:0]
	for _, p := range selecting {
		if p.allows(q.Use) {
			pools = append(pools, p)
		}
	}
	a.allowed = pools
	if len(pools) == 0 {
		return nil, nil, fmt.Errorf("%w: none is for this use", ErrNoPool)
	}
	all := h.affinities[0]
	if v6 {
		all = h.affinities[1]
	}
	own = a.kept[:0]
	leave := a.leave[:0]
	for _, x := range all {
		if containing(pools, x.block.prefix.Addr()) != nil {
			own = append(own, x.block)
		} else if containing(selecting, x.block.prefix.Addr()) == nil {
			leave = append(leave, x.block)
		}
	}
	a.kept, a.leave = own, leave
	for _, b := range leave {
		p := b.prefix
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
	out = a.selected[:0]
	for _, p := range a.pools {
		if p.Disabled || p.v6() != v6 {
			continue
		}
		enabled++
		if !p.Manual && p.selects(h) && p.serves(q.NamespaceLabels) {
			out = append(out, p)
		}
	}
	a.selected = out
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
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: none selects node %s", ErrNoPool, h.name)
	}
	return out, nil
}
