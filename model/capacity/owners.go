package capacity

import (
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/metric"
)

// Owners are the owners of the blocks of the enabled pools, in a real cluster: a row of
// Course.Owners. number is the number of a node by its name, -1 for a node that never existed.
// Owners is nil if there are no blocks or more than ownersMax.
func Owners(v metric.View, number func(node string) int32) []int32 {
	return snapshotOf(&v).owners(number)
}

func (s *snapshot) owners(number func(string) int32) []int32 {
	var pools []model.IPPool
	total := 0
	for i := range s.networks {
		n := &s.networks[i]
		if n.Blocks == nil {
			continue
		}
		for _, p := range n.Blocks.Pools {
			if !p.Disabled && p.Prefix.Bits() <= p.BlockBits {
				pools = append(pools, p)
				total += 1 << min(p.BlockBits-p.Prefix.Bits(), 20)
			}
		}
	}
	if total == 0 || total > ownersMax {
		return nil
	}
	slices.SortFunc(pools, func(a, b model.IPPool) int { return a.Prefix.Compare(b.Prefix) })
	owner := map[netip.Prefix]string{}
	for i := range s.Blocks {
		owner[s.Blocks[i].Prefix] = s.Blocks[i].Owner
	}
	out := make([]int32, 0, total)
	for _, p := range pools {
		at := p.Prefix.Masked().Addr()
		for range 1 << (p.BlockBits - p.Prefix.Bits()) {
			block := netip.PrefixFrom(at, p.BlockBits)
			row := int32(0)
			if name := owner[block]; name != "" {
				row = number(name) + 1
			}
			out = append(out, row)
			at = model.LastAddr(block).Next()
		}
	}
	return out
}
