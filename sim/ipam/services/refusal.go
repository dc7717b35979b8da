package services

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
	"k8s.io/kubernetes/pkg/registry/core/service/portallocator"

	"ipamsim/model"
)

// asked is a request for a Service that is under way.
type asked struct {
	service string
	ports   int // free at all times so far
	addrs   map[bool]int
	// certain are the addresses and node ports that it asks for; taken: one of them was not
	// free all the time.
	certain certain
	taken   bool
}

// certain are the addresses and node ports that a Service asks for.
type certain struct {
	addrs []netip.Addr
	ports []int
}

// certainOf reads the requested addresses and ports. Values that cannot be parsed are ignored.
func certainOf(body []byte) (c certain) {
	var x corev1.Service
	if json.Unmarshal(body, &x) != nil {
		return c
	}
	for _, text := range append(x.Spec.ClusterIPs, x.Spec.ClusterIP) {
		if a, err := netip.ParseAddr(text); err == nil {
			c.addrs = append(c.addrs, a)
		}
	}
	for _, p := range serviceOf(&x).Ports {
		c.ports = append(c.ports, p.Port)
	}
	return c
}

// ask begins a request, and the function that it returns ends it with its error.
func (r *record) ask(service string, body []byte) func(err error) {
	a := &asked{service: service, ports: -1, certain: certainOf(body)}
	r.mu.Lock()
	r.underWay[a] = true
	r.mu.Unlock()
	return func(err error) {
		s, _ := r.snapshot() // counts the free addresses at the end
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.underWay, a)
		if err == nil || s.Services == nil {
			return
		}
		full := model.Refusal{At: time.Since(r.began), Service: service}
		switch text := err.Error(); {
		case strings.Contains(text, "failed to allocate a serviceIP: range is full"):
			full.Free = a.fewest()
		case strings.Contains(text, "failed to allocate a nodePort: range is full"):
			full.Ports, full.Free = true, a.ports
		case strings.Contains(text, ipallocator.ErrAllocated.Error()) && !a.taken:
			full.Allocated, full.Free = true, a.fewest()
		case strings.Contains(text, portallocator.ErrAllocated.Error()) && !a.taken:
			full.Allocated, full.Ports, full.Free = true, true, a.ports
		default:
			return
		}
		r.refusals = append(r.refusals, full)
	}
}

// fewest is how many addresses were free of the family that had the fewest.
func (a *asked) fewest() int {
	n := -1
	for _, free := range a.addrs {
		if n < 0 || free < n {
			n = free
		}
	}
	return max(n, 0)
}

// count lowers, for every request under way, how many addresses and node ports were free
// at all times. The caller holds mu.
func (r *record) count(s *model.Services) {
	if len(r.underWay) == 0 {
		return
	}
	ports, addrs := r.portsAll-len(s.Ports), r.freeAddrs(s)
	for a := range r.underWay {
		a.taken = a.taken || r.takes(s, a)
		if a.addrs == nil {
			a.ports, a.addrs = ports, addrs
			continue
		}
		a.ports = min(a.ports, ports)
		for six, n := range a.addrs {
			a.addrs[six] = min(n, addrs[six])
		}
	}
}

// takes reports whether something that a request asks for is allocated, or was a while ago.
func (r *record) takes(s *model.Services, a *asked) bool {
	return slices.ContainsFunc(a.certain.addrs, func(x netip.Addr) bool {
		at, freed := r.freed[x]
		return s.Claim(x) != nil || freed && time.Since(at) < heardAfter
	}) || slices.ContainsFunc(a.certain.ports, func(p int) bool { return slices.Contains(s.Ports, p) })
}

const (
	freeMax = 1 << 20 // bounds the count of a wide range
	// heardAfter is the time after which an API server knows that an address is free. Until then it
	// considers the address as taken, which is not an error.
	heardAfter = 10 * time.Minute
)

// freeAddrs are the addresses that no IPAddress has, nor had a while ago, by family: true
// is IPv6.
func (r *record) freeAddrs(s *model.Services) map[bool]int {
	out := map[bool]int{}
	for i, p := range s.Ranges {
		if i > 0 && s.Ranges[i-1].Overlaps(p) {
			continue // it lies within: sorted, the wider one comes first
		}
		n := freeMax
		if bits := p.Addr().BitLen() - p.Bits(); bits < 20 {
			n = 1<<bits - 1 // not the first
		}
		if p.Addr().Is4() {
			n-- // nor the last
		}
		for _, c := range s.Claims {
			if p.Contains(c.Addr) {
				n--
			}
		}
		for a, at := range r.freed {
			if p.Contains(a) && s.Claim(a) == nil && time.Since(at) < heardAfter {
				n--
			}
		}
		out[p.Addr().Is6()] += n
	}
	return out
}
