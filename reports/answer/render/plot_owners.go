package render

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/reports"
	"ipamsim/reports/answer"
	"ipamsim/reports/answer/words"
	"ipamsim/reports/chart"
)

// ownership draws the owner of each block over time in the median trial of each row whose
// pools are small, up to blocksMax blocks in all.
func (a *Answer) ownership() (out []answer.Plot) {
	const mapsMax, blocksMax = 8, chart.BlocksMax
	rows, left := a.drawn(mapsMax)
	blocks := 0
	for _, n := range rows {
		repeat, by := a.median(n)
		if repeat < 0 {
			continue
		}
		course := a.Question.Cells[n].Courses[repeat]
		if blocks += len(course.Owners[0]); blocks > blocksMax && len(out) > 0 {
			out[len(out)-1].Caption += fmt.Sprintf(" %d of %d rows are drawn; the others have too many blocks.", len(out), len(a.withTrials()))
			break
		}
		p := answer.Plot{Name: fmt.Sprintf("owners-%d", n), Title: "Owner of each block: " + a.Rows[n].Name}
		p.Caption = fmt.Sprintf("Repeat %d, the median trial of %q by %s.%s", repeat, words.Cut(a.Rows[n].Name, 80), by, left)
		if p.Picture = a.owners(p.Title, n, course); p.Picture != nil {
			out, left = append(out, p), ""
		}
	}
	return out
}

// median returns the repeat of the median trial of a row by the measure to minimise, or by
// utilisation, among trials with known owners; -1 if there is none.
func (a *Answer) median(n int) (repeat int, by string) {
	m := a.Measure(a.Minimise)
	if m == nil {
		if m = a.Measure("utilisation"); m == nil {
			return -1, ""
		}
	}
	values := a.Rows[n].ByRepeat[m.Name]
	var repeats []int
	for i, l := range a.Question.Cells[n].Courses {
		if l != nil && len(l.Owners) > 0 && i < len(values) && values[i] == values[i] {
			repeats = append(repeats, i)
		}
	}
	if len(repeats) == 0 {
		return -1, ""
	}
	slices.SortStableFunc(repeats, func(x, y int) int { return cmp.Compare(values[x], values[y]) })
	return repeats[(len(repeats)-1)/2], m.Noun()
}

// nodesMax bounds the nodes of a cluster.
const nodesMax = 1_000_000

func (a *Answer) owners(title string, n int, l *capacity.Course) chart.Picture {
	blocks := len(l.Owners[0])
	if blocks == 0 || blocks > chart.BlocksMax || len(l.Owners) != len(l.Samples) {
		return nil
	}
	o := &chart.Owners{Title: title, X: chart.Axis{Label: "time", Duration: true}, Blocks: blockNames(a.Question.Cells[n].Cluster, blocks), Owner: l.Owners}
	nodes := int32(0)
	for i := range l.Owners {
		if len(l.Owners[i]) != blocks {
			return nil
		}
		o.Times = append(o.Times, l.Samples[i].At.Seconds())
		for _, owner := range l.Owners[i] {
			if nodes = max(nodes, owner); owner > nodesMax {
				return nil // invalid file
			}
		}
	}
	for i := range int(nodes) {
		name := fmt.Sprintf("node %d", i+1)
		if c := a.Question.Cells[n].Cluster; c != nil && i < len(c.Nodes) {
			name = reports.Clean(c.Nodes[i].Name)
		}
		o.Nodes = append(o.Nodes, name)
	}
	return o
}

// blockNames are the prefixes of all blocks of the enabled pools, in their order,
// where as many are known as the repeats have.
func blockNames(c *capacity.Cluster, n int) []string {
	var out []string
	var pools []model.IPPool
	if c != nil {
		for _, x := range c.Networks {
			if x.Blocks != nil {
				pools = append(pools, x.Blocks.Pools...)
			}
		}
	}
	slices.SortFunc(pools, func(a, b model.IPPool) int { return a.Prefix.Compare(b.Prefix) })
	for _, p := range pools {
		for at := p.Prefix.Masked().Addr(); !p.Disabled && p.Prefix.Contains(at) && len(out) <= n && p.BlockBits >= p.Prefix.Bits(); {
			out = append(out, netip.PrefixFrom(at, p.BlockBits).String())
			at = after(at, p.BlockBits)
		}
	}
	if len(out) == n {
		return out
	}
	out = nil
	for i := range n {
		out = append(out, fmt.Sprintf("block %d", i+1))
	}
	return out
}

// after returns the address after a prefix; invalid if there is none.
func after(a netip.Addr, bits int) netip.Addr {
	b := a.AsSlice()
	i, carry := (bits-1)/8, 1<<(7-(bits-1)%8)
	for ; i >= 0 && carry > 0; i-- {
		sum := int(b[i]) + carry
		b[i], carry = byte(sum), sum>>8
	}
	if carry > 0 {
		return netip.Addr{}
	}
	out, _ := netip.AddrFromSlice(b)
	return out
}
