// Package services models how the Kubernetes API server assigns cluster IPs and node ports to
// Services, as the address manager of a plan: the allocators' decisions, without messages. A
// pod of the workload trace stands for a Service.
package services

import (
	"errors"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/capacity/workload"
)

// Config is the configuration of the API servers, the Services before the first Service of the
// plan, and the requests of Services.
type Config struct {
	Ranges      []netip.Prefix // of cluster IPs, one of each family at most, the primary one first
	First, Last int            // node ports
	Taken       []netip.Addr   // by Services of the beginning
	TakenPorts  []int

	// What Services are: shares of all, and Local of those of type LoadBalancer.
	NodePort, LoadBalancer, Local, Dual float64
	// Ports is how many each has.
	Ports int
}

// Kind is what one Service asks for.
type Kind struct {
	NodePort, LoadBalancer bool // otherwise it is of type ClusterIP
	Local                  bool // externalTrafficPolicy: Local, which takes a port for health checks
	Dual                   bool // an address of each family
}

// Kind is the kind of the Service with a name, in the trial of a seed.
func (c *Config) Kind(seed uint64, name string) (k Kind) {
	draw := workload.Draws(seed, name)
	x, local, dual := draw(), draw(), draw()
	k.NodePort = x < c.NodePort
	k.LoadBalancer = !k.NodePort && x < c.NodePort+c.LoadBalancer
	k.Local = k.LoadBalancer && local < c.Local
	k.Dual = len(c.Ranges) > 1 && dual < c.Dual
	return k
}

// ports is how many node ports a Service takes.
func (c *Config) ports(k Kind) (n int) {
	if k.NodePort || k.LoadBalancer {
		n = c.Ports
	}
	if k.Local {
		n++
	}
	return n
}

// Band is the number of addresses at the beginning of a range that are assigned only if no other is
// left, so that requests for certain addresses find them free.
//
// Source: pkg/registry/core/service/ipallocator, calculateRangeOffset (v1.37.2).
func Band(p netip.Prefix) int {
	const least, most, step = 16, 256, 16
	size := capacity.Addresses(p)
	if size <= least {
		return 0
	}
	return min(max(size/step, least), most)
}

// Ends are the first and the last address of a range that Services get.
//
// Source: pkg/registry/core/service/ipallocator, NewIPAllocator (v1.37.2).
func Ends(p netip.Prefix) (first, last netip.Addr) {
	first, last = p.Masked().Addr().Next(), model.LastAddr(p)
	if first.Is4() {
		last = last.Prev()
	}
	return first, last
}

// InBand reports whether an address is in a band and was not used at the beginning.
func (c *Config) InBand(a netip.Addr) bool {
	i := slices.IndexFunc(c.Ranges, func(p netip.Prefix) bool { return p.Contains(a) })
	return i >= 0 && a.Less(above(c.Ranges[i])) && !slices.Contains(c.Taken, a)
}

// above is the first address behind the band.
func above(p netip.Prefix) netip.Addr {
	a, _ := Ends(p)
	for range Band(p) {
		a = a.Next()
	}
	return a
}

// Open implements capacity.Manager.
func (c *Config) Open(p *capacity.Player) (*capacity.Allocator, error) {
	if p.Cluster().Record != nil {
		return nil, capacity.NotModelled(errors.New("a cluster that runs already"))
	}
	a := &allocator{Config: c, seed: p.Seed(), chance: p.Chance, held: map[string]hold{}, used: len(c.Taken), ports: c.Last - c.First + 1 - len(c.TakenPorts)}
	for _, r := range c.Ranges {
		a.cidrs = append(a.cidrs, newCIDR(r, c.Taken))
	}
	return &capacity.Allocator{
		Add: a.add, Del: a.del, Record: a.record, Count: a.count,
		InUse: func() int { return a.used },
	}, nil
}

// allocator is the storage of Services.
type allocator struct {
	*Config
	seed   uint64
	chance func() // upstream leaves something to it
	cidrs  []*cidr
	ports  int // that are free
	held   map[string]hold

	used, inBand, portsUsed int
}

// hold is what a Service has.
type hold struct {
	addrs []netip.Addr
	ports int
}

// cidr is a range.
type cidr struct {
	above        netip.Addr // the first one that is not of the band
	lower, upper part
}

// part is a part of a range. Upstream chooses a random free address; here it is the one that was
// released last, and then the lowest.
type part struct {
	back       []netip.Addr
	next, last netip.Addr // never assigned so far, up to the last one
	skip       []netip.Addr
}

func newCIDR(p netip.Prefix, taken []netip.Addr) *cidr {
	first, last := Ends(p)
	c := &cidr{above: above(p)}
	c.lower = part{next: first, last: c.above.Prev(), skip: taken}
	c.upper = part{next: c.above, last: last, skip: taken}
	return c
}

// take is a free address, of the band if there is no other.
//
// Source: pkg/registry/core/service/ipallocator, allocateNextService (v1.37.2).
func (c *cidr) take() (netip.Addr, bool) {
	if a, ok := c.upper.take(); ok {
		return a, true
	}
	return c.lower.take()
}

func (c *cidr) give(a netip.Addr) {
	if a.Less(c.above) {
		c.lower.back = append(c.lower.back, a)
		return
	}
	c.upper.back = append(c.upper.back, a)
}

func (p *part) take() (a netip.Addr, ok bool) {
	if n := len(p.back); n > 0 {
		a, p.back = p.back[n-1], p.back[:n-1]
		return a, true
	}
	for !p.last.Less(p.next) {
		a, p.next = p.next, p.next.Next()
		if !slices.Contains(p.skip, a) {
			return a, true
		}
	}
	return netip.Addr{}, false
}

// add is the creation of a Service: its addresses, and then its node ports. One that does not
// get everything has nothing here. Upstream asks the families in the order of a Go map, and
// does not give back what the first one gave when the second one has nothing: its repair
// does, one to four minutes later.
//
// Source: pkg/registry/core/service/storage, allocateCreate, txnAllocClusterIPs (v1.37.2).
func (a *allocator) add(pod *capacity.Pod) ([]netip.Addr, error) {
	k := a.Kind(a.seed, pod.Ref.Name)
	h := hold{ports: a.Config.ports(k)}
	for _, c := range a.cidrs {
		if len(h.addrs) > 0 && !k.Dual {
			break
		}
		addr, ok := c.take()
		if !ok {
			break
		}
		h.addrs = append(h.addrs, addr)
	}
	a.keep(pod.Container, h)
	short := k.Dual && len(h.addrs) < 2 || len(h.addrs) == 0
	if short && k.Dual {
		a.chance()
	}
	if short || a.ports < 0 {
		_ = a.del(pod, pod.Container)
		return nil, capacity.ErrNoAddress
	}
	return h.addrs, nil
}

// keep records the addresses of a Service.
func (a *allocator) keep(container string, h hold) {
	a.held[container] = h
	a.sum(h, 1)
}

// del is its deletion.
func (a *allocator) del(_ *capacity.Pod, container string) error {
	h, ok := a.held[container]
	if !ok {
		return nil
	}
	delete(a.held, container)
	a.sum(h, -1)
	for _, addr := range h.addrs {
		i := slices.IndexFunc(a.Ranges, func(p netip.Prefix) bool { return p.Contains(addr) })
		a.cidrs[i].give(addr)
	}
	return nil
}

// sum adds what a Service has, or takes it away.
func (a *allocator) sum(h hold, by int) {
	a.used += by * len(h.addrs)
	a.ports -= by * h.ports
	a.portsUsed += by * h.ports
	for _, addr := range h.addrs {
		if a.InBand(addr) {
			a.inBand += by
		}
	}
}

func (a *allocator) count() capacity.Census {
	return capacity.Census{InUse: a.used, InBand: a.inBand, NodePorts: len(a.TakenPorts) + a.portsUsed}
}

// record are the IPAddresses.
func (a *allocator) record() (s model.Snapshot) {
	for _, r := range a.Ranges {
		s.Pools = append(s.Pools, model.Pool{Name: r.String(), Range: r})
	}
	add := func(addr netip.Addr, container string) {
		i := slices.IndexFunc(a.Ranges, func(p netip.Prefix) bool { return p.Contains(addr) })
		s.Claims = append(s.Claims, model.Claim{Pool: a.Ranges[i].String(), Addr: addr, Container: container})
	}
	for _, addr := range a.Taken {
		add(addr, "")
	}
	for container, h := range a.held {
		for _, addr := range h.addrs {
			add(addr, container)
		}
	}
	slices.SortFunc(s.Claims, func(x, y model.Claim) int { return x.Addr.Compare(y.Addr) })
	return s
}
