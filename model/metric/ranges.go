package metric

import (
	"encoding/binary"
	"math"
	"net/netip"

	"ipamsim/model"
)

// ranges measures a network whose addresses come from ranges.
func (s *sampler) ranges(n *model.Network) {
	own := map[string]bool{} // pools of the network
	for i := range s.Record.Pools {
		if p := &s.Record.Pools[i]; n.Owns(p) {
			own[p.Name] = true
		}
	}
	for i := range n.Ranges {
		r := &n.Ranges[i]
		used, leaked := 0, 0
		for k := range s.Record.Claims {
			if c := &s.Record.Claims[k]; own[c.Pool] && r.Spans(c.Addr) {
				used++
				if s.gone[k] {
					leaked++
				}
			}
		}
		labels := []string{"network", n.Key, "range", r.Prefix.String()}
		s.add(RangeSize, rangeSize(r), labels...)
		s.add(RangeInUse, float64(used), labels...)
		s.add(RangeLeaked, float64(leaked), labels...)
	}
}

// rangeSize is how many addresses policy lets be handed out of a range. Excludes
// that overlap each other count once.
func rangeSize(r *model.Range) float64 {
	size := span(r.Start, r.End)
	for i, x := range r.Exclude {
		x = x.Masked()
		first, last := x.Addr(), model.LastAddr(x)
		if covered(r.Exclude, i) || first.Is4() != r.Start.Is4() || last.Less(r.Start) || r.End.Less(first) {
			continue
		}
		if first.Less(r.Start) {
			first = r.Start
		}
		if r.End.Less(last) {
			last = r.End
		}
		size -= span(first, last)
	}
	return max(size, 0)
}

// covered reports whether another exclude holds all of the i-th.
func covered(list []netip.Prefix, i int) bool {
	for j, x := range list {
		if j != i && x.Bits() <= list[i].Bits() && x.Contains(list[i].Addr()) && (x.Bits() < list[i].Bits() || j < i) {
			return true
		}
	}
	return false
}

// span is last - first + 1; 0 if last is below first.
func span(first, last netip.Addr) float64 {
	if !first.IsValid() || !last.IsValid() || last.Less(first) {
		return 0
	}
	a, b := first.As16(), last.As16()
	high := func(x [16]byte) float64 { return float64(binary.BigEndian.Uint64(x[:8])) }
	low := func(x [16]byte) uint64 { return binary.BigEndian.Uint64(x[8:]) }
	if ha, hb := high(a), high(b); ha != hb {
		return math.Ldexp(hb-ha, 64) + float64(low(b)) - float64(low(a)) + 1
	}
	return float64(low(b)-low(a)) + 1
}
