package metallb

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
)

// Pool is an IPAddressPool.
type Pool struct {
	Name       string
	Ranges     []Range
	Manual     bool // autoAssign: false: only explicit requests for the pool or an address of it are served
	AvoidBuggy bool // IPv4 addresses that end in .0 and .255 are not given
	// For selects the Services of the pool; nil: all.
	For *Allocation
}

// Allocation is a pool's serviceAllocation. A Service has to be in one of the namespaces, and one
// of the selectors has to match its labels; an empty list matches all. The priority orders several
// matching pools and does not exclude any.
//
// Source: website/content/configuration/_advanced_ipaddresspool_configuration.md.
type Allocation struct {
	// Namespaces are the listed ones and those that a namespaceSelector matches. Selective: there
	// is a list or a selector.
	Namespaces []string
	Selective  bool
	Services   []Selector
}

// Selector reports whether it takes something with these labels.
type Selector func(labels map[string]string) bool

// Range is a pool's addresses from the first to the last.
type Range struct{ First, Last netip.Addr }

// ParseRange parses an element of a pool's addresses: a prefix, which may have bits set after its
// length, or FIRST-LAST.
//
// Source: internal/config, ParseCIDR, whose texts its errors have.
func ParseRange(s string) (Range, error) {
	from, to, ok := strings.Cut(s, "-")
	if !ok {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return Range{}, fmt.Errorf("invalid CIDR %q", s)
		}
		return Range{p.Masked().Addr(), model.LastAddr(p.Masked())}, nil
	}
	first, err := netip.ParseAddr(strings.TrimSpace(from))
	if err != nil || first.Zone() != "" {
		return Range{}, fmt.Errorf("invalid IP range %q: invalid start IP %q", s, from)
	}
	last, err := netip.ParseAddr(strings.TrimSpace(to))
	if err != nil || last.Zone() != "" {
		return Range{}, fmt.Errorf("invalid IP range %q: invalid end IP %q", s, to)
	}
	if first, last = first.Unmap(), last.Unmap(); first.Is4() != last.Is4() {
		return Range{}, fmt.Errorf("invalid IP range %q: start and end IPs must be the same family", s)
	}
	if first.Compare(last) > 0 {
		return Range{}, fmt.Errorf("invalid IP range %q: start IP %q is after the end IP %q", s, first, last)
	}
	return Range{first, last}, nil
}

// Prefixes are the fewest that have its addresses and no others, in their order.
func (r Range) Prefixes() (out []netip.Prefix) {
	for a := r.First; a.IsValid() && r.Contains(a); {
		p := netip.PrefixFrom(a, a.BitLen())
		for p.Bits() > 0 {
			wider := netip.PrefixFrom(a, p.Bits()-1)
			if wider.Masked().Addr() != a || r.Last.Compare(model.LastAddr(wider)) < 0 {
				break
			}
			p = wider
		}
		out = append(out, p)
		a = model.LastAddr(p).Next()
	}
	return out
}

// Contains reports whether an address lies in it.
func (r Range) Contains(a netip.Addr) bool {
	return a.Is4() == r.First.Is4() && r.First.Compare(a) <= 0 && a.Compare(r.Last) <= 0
}

// Overlaps reports whether two have an address in common.
func (r Range) Overlaps(o Range) bool { return r.Contains(o.First) || o.Contains(r.First) }

// sizeMax is the largest pool size that is counted exactly: larger pools never run out.
const sizeMax = 1 << 30

// size is how many addresses it has, at most sizeMax; buggy ones are none with avoid.
func (r Range) size(avoid bool) (n int) {
	if !r.First.Is4() {
		first, last := r.First.As16(), r.Last.As16()
		for i := range first {
			n = min(n*256+int(last[i])-int(first[i]), 2*sizeMax)
		}
		return min(n+1, sizeMax)
	}
	first, last := number(r.First), number(r.Last)
	if n = last - first + 1; avoid {
		n -= (last+1)/256 - first/256         // those that end in .255
		n -= (last+256)/256 - (first+255)/256 // and in .0
	}
	return min(n, sizeMax)
}

func number(a netip.Addr) (n int) {
	for _, b := range a.As4() {
		n = n<<8 | int(b)
	}
	return n
}

// buggy addresses confuse smurf protection of some routers.
//
// Source: website/content/configuration, Handling buggy networks; internal/allocator,
// ipConfusesBuggyFirmwares.
func buggy(a netip.Addr) bool {
	if !a.Is4() {
		return false
	}
	last := a.As4()[3]
	return last == 0 || last == 255
}

// Has reports whether an address is the pool's to give.
func (p *Pool) Has(a netip.Addr) bool {
	return !(p.AvoidBuggy && buggy(a)) && slices.ContainsFunc(p.Ranges, func(r Range) bool { return r.Contains(a) })
}

// Size is how many addresses of a family it has to give, at most sizeMax.
func (p *Pool) Size(v4 bool) (n int) {
	for _, r := range p.Ranges {
		if r.First.Is4() == v4 {
			n = min(n+r.size(p.AvoidBuggy), sizeMax)
		}
	}
	return n
}

// Takes reports whether a Service may have addresses of the pool at all, possibly only by explicit
// request.
//
// Source: internal/allocator, isPoolCompatibleWithService. That function takes a pool whose
// namespaceSelectors match no namespace for a pool without selectors, which serves all Services; by
// the documentation the pool serves only the selected namespaces.
func (p *Pool) Takes(s *Service) bool {
	f := p.For
	if f == nil {
		return true
	}
	namespace, _, _ := strings.Cut(s.Name, "/")
	return (!f.Selective || slices.Contains(f.Namespaces, namespace)) &&
		(len(f.Services) == 0 || slices.ContainsFunc(f.Services, func(x Selector) bool { return x(s.Labels) }))
}
