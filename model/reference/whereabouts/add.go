package whereabouts

import (
	"fmt"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// Call is one execution of the CNI plugin.
type Call struct {
	Node                 string
	Pod                  model.PodRef
	Container, Interface string
}

// Add attaches a pod's interface to a network and returns an address of every range, in the order
// of the ranges, with the length of the range's prefix.
//
// A pod's interface that has an allocation in the range's pool gets the same address again,
// wherever it is, and the container's id replaces the old one. Other interfaces get the lowest free
// address. With overlap protection an address that another pod has reserved is skipped, and the
// assigned one is reserved unless it already was, or unless that of an earlier range was.
//
// It returns an error wrapping ErrExhausted, ErrTime, ErrCrash or ErrNotModelled; earlier
// allocations stay.
//
// Source: pkg/storage/kubernetes/ipam.go, IPManagementKubernetesUpdate (v0.9.4).
func (r *Record) Add(n *Network, c Call) ([]netip.Prefix, error) {
	op, err := r.begin(n, c)
	if err != nil {
		return nil, fmt.Errorf("whereabouts: add %s: %w", c.Pod, err)
	}
	out := make([]netip.Prefix, 0, len(op.ranges))
	for i := range op.ranges {
		a, err := op.allocate(&op.ranges[i])
		if err != nil {
			return nil, fmt.Errorf("whereabouts: add %s: range %s: %w", c.Pod, op.ranges[i].prefix, err)
		}
		out = append(out, netip.PrefixFrom(a, n.ranges[i].prefix.Bits()))
	}
	return out, nil
}

// operation is an ADD or a DEL under way.
type operation struct {
	*Record
	Call
	network *Network
	ranges  []addresses // the node's slice instead of its range
	node    string      // in the names of pools: "" where there are no slices
	sent    requests
	passed  []netip.Addr // reserved by other pods
	skip    bool         // reserve no further address
}

func (r *Record) begin(n *Network, c Call) (*operation, error) {
	op := &operation{Record: r, Call: c, network: n, ranges: n.ranges}
	if c.Pod.Name == "" {
		return nil, fmt.Errorf("a pod without a name: %w", ErrNotModelled)
	}
	if n.slice > 0 {
		s, ok := r.sliceOf(n, c.Node)
		if !ok {
			return nil, fmt.Errorf("node %s has no slice: %w", c.Node, ErrCrash)
		}
		a, err := newAddresses(model.Range{Prefix: s})
		if err != nil {
			return nil, err
		}
		a.pool = poolName(n.name, c.Node, s)
		op.ranges, op.node = []addresses{a}, c.Node
		op.sent.send(1) // for the name of the lease
	}
	op.sent.send(1) // LIST: is the datastore there?
	return op, nil
}

// pool reads a range's pool, and creates it if there is none.
func (op *operation) pool(a *addresses) (*pool, error) {
	each := 1
	if op.node != "" {
		each = 2 // the slice is looked up each time
	}
	if !op.sent.send(each) {
		return nil, ErrTime
	}
	p := op.pools[a.pool]
	if p == nil {
		if !op.sent.send(1) {
			return nil, ErrTime
		}
		p = newPool(a.pool, op.network.name, op.node, a.prefix)
		op.pools[a.pool] = p
		if !op.sent.send(each) { // it is read again
			return nil, ErrTime
		}
	}
	if p.prefix != a.prefix {
		return nil, fmt.Errorf("pool %s is of %s: %w", p.name, p.prefix, ErrNotModelled)
	}
	return p, nil
}

// allocate takes an address of one range.
func (op *operation) allocate(a *addresses) (netip.Addr, error) {
	for {
		p, err := op.pool(a)
		if err != nil {
			return netip.Addr{}, err
		}
		x, ok := p.pods[podKey{op.Pod, op.Interface}]
		if !ok {
			if x, ok = a.free(&p.used, op.passedIn(a)); !ok {
				return netip.Addr{}, op.exhausted(a)
			}
		}
		addr := at(a.prefix.Addr(), x)
		if !op.network.overlap {
			return addr, op.claim(p, x)
		}
		if !op.sent.send(1) {
			return netip.Addr{}, ErrTime
		}
		g := guarded{op.network.name, addr}
		switch v, reserved := op.reservations[g]; {
		case reserved && v.pod != op.Pod:
			op.passed = append(op.passed, addr)
			continue
		case reserved:
			op.skip = true
		}
		if err := op.claim(p, x); err != nil || op.skip {
			return addr, err
		}
		if !op.sent.send(1) {
			return netip.Addr{}, ErrTime
		}
		op.reservations[g] = reservation{op.Pod, op.Interface}
		return addr, nil
	}
}

func (op *operation) claim(p *pool, x uint64) error {
	if !op.sent.send(1) {
		return ErrTime
	}
	if !p.put(x, claim{op.Pod, op.Container, op.Interface}) {
		return fmt.Errorf("container %s is that of two pods: %w", op.Container, ErrNotModelled)
	}
	return nil
}

// passedIn are the offsets in the range of skipped addresses, also of those skipped in earlier
// ranges.
func (op *operation) passedIn(a *addresses) []uint64 {
	if len(op.passed) == 0 {
		return nil
	}
	out := make([]uint64, 0, len(op.passed))
	for _, x := range slices.Backward(op.passed) {
		if n, ok := a.offset(x); ok && a.prefix.Contains(x) {
			out = append(out, n)
		}
	}
	return out
}

// exhausted is the refusal of a range without a free address. What lies beyond
// offsetsMax is not known.
func (op *operation) exhausted(a *addresses) error {
	if a.last == offsetsMax {
		return ErrNotModelled
	}
	return ErrExhausted
}
