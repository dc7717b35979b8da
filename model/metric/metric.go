// Package metric measures a cluster at an instant as a monitoring system would: with the names and
// labels of Calico's metrics where they exist, and with the prefix ipamsim_ for values that an
// alert needs but no component exports.
//
// It is pure: no I/O, no goroutine, no upstream code.
package metric

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/route"
)

// View is the input of Sample: the cluster at one instant.
type View struct {
	Truth    model.Truth
	Record   model.Snapshot
	Networks []model.Network // the policy now
	Losses   []route.Loss    // by the routing tables
	// Routes: Losses is computed, so that an empty list means no losses.
	Routes bool
}

// Label of a point.
type Label struct{ Name, Value string }

// Point is one measurement.
type Point struct {
	Name   string
	Labels []Label // sorted by name
	Value  float64
}

// Key returns the point's identity in PromQL: ipam_blocks{ippool="p",node="n"}.
func (p Point) Key() string { return key(p.Name, p.Labels) }

func key(name string, labels []Label) string {
	if len(labels) == 0 {
		return name
	}
	var b strings.Builder
	b.WriteString(name)
	for i, l := range labels {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(l.Name)
		b.WriteString(`="`)
		b.WriteString(escape.Replace(l.Value))
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return b.String()
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func compareLabels(a, b []Label) int {
	return slices.CompareFunc(a, b, func(x, y Label) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Value, y.Value))
	})
}

// The metrics. kube-controllers exports those without the prefix ipamsim_.
//
// Source: kube-controllers/pkg/controllers/node/ipam.go, updateMetrics and
// registerMetricVectorsForPool (v3.31).
const (
	PoolSize          = "ipam_ippool_size"
	Blocks            = "ipam_blocks"
	BlocksPerNode     = "ipam_blocks_per_node"
	InUse             = "ipam_allocations_in_use"
	PerNode           = "ipam_allocations_per_node"
	Borrowed          = "ipam_allocations_borrowed"
	BorrowedPerNode   = "ipam_allocations_borrowed_per_node"
	Candidates        = "ipam_allocations_gc_candidates"
	FreeBlocks        = "ipamsim_free_blocks"
	EmptyBlocks       = "ipamsim_empty_blocks"
	NodesWithoutBlock = "ipamsim_nodes_without_block"
	StarvedNodes      = "ipamsim_starved_nodes"
	BlackholedPairs   = "ipamsim_blackholed_pairs"
	Blackholed        = "ipamsim_blackholed_addresses"
	Leaked            = "ipamsim_leaked_addresses"
	RangeSize         = "ipamsim_range_size"
	RangeInUse        = "ipamsim_range_in_use"
	RangeLeaked       = "ipamsim_range_leaked_addresses"

	// Only for clusters with pools of both address families; elsewhere they would equal the
	// metrics without "per family".
	BlackholedPairsPerFamily   = "ipamsim_blackholed_pairs_per_family"
	BlackholedPerFamily        = "ipamsim_blackholed_addresses_per_family"
	NodesWithoutBlockPerFamily = "ipamsim_nodes_without_block_per_family"
	StarvedNodesPerFamily      = "ipamsim_starved_nodes_per_family"
)

// Family describes a metric. All are gauges.
type Family struct{ Name, Help string }

// Families returns all metrics, sorted by name.
func Families() []Family {
	return []Family{
		{Borrowed, "Addresses that a node has from a block affine to another node, or to none."},
		{BorrowedPerNode, "Addresses that a node has from blocks affine to another node, or to none; a node without any has no series."},
		{Candidates, "Allocations that the garbage collector would mark as leaked now."},
		{InUse, "Addresses allocated to a workload or a tunnel, by the node that has them."},
		{PerNode, "Addresses allocated on each node; a node without any has no series."},
		{Blocks, "Blocks of each pool by the node they are affine to; a node without any has no series."},
		{BlocksPerNode, "Blocks by the node they are affine to; a node without any has no series."},
		{PoolSize, "Addresses in the pool."},
		{Blackholed, "Addresses of running pods that some node cannot reach."},
		{BlackholedPerFamily, "Addresses of running pods that some node cannot reach, by address family; only where there are pools of both."},
		{BlackholedPairs, "Pairs of a node and an address of a running pod that it cannot reach."},
		{BlackholedPairsPerFamily, "Pairs of a node and an address of a running pod that it cannot reach, by address family; only where there are pools of both."},
		{EmptyBlocks, "Blocks that belong to a node and hold no address."},
		{FreeBlocks, "Blocks of the pool that no node has claimed; 0 for a pool that assigns no new blocks."},
		{Leaked, "Addresses claimed for an owner that is gone."},
		{NodesWithoutBlock, "Nodes in service that a pool serves and that have no block of its address family."},
		{NodesWithoutBlockPerFamily, "Nodes in service that a pool of the address family serves and that have no block of it; only where there are pools of both."},
		{RangeInUse, "Addresses claimed in the range."},
		{RangeLeaked, "Addresses of the range claimed for an owner that is gone."},
		{RangeSize, "Addresses that the range's policy allows to assign."},
		{StarvedNodes, "Nodes without a block that find no block to claim."},
		{StarvedNodesPerFamily, "Nodes without a block of the address family that find none to claim; only where there are pools of both."},
	}
}

// Sample measures everything, sorted by name, then labels.
func Sample(v View) []Point {
	s := &sampler{View: v, gone: make([]bool, len(v.Record.Claims))}
	s.leaks()
	for i := range v.Networks {
		if n := &v.Networks[i]; n.Blocks != nil {
			s.blocks(n)
		} else {
			s.ranges(n)
		}
	}
	if v.Routes {
		s.losses()
	}
	slices.SortFunc(s.points, func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), compareLabels(a.Labels, b.Labels))
	})
	return s.points
}

// sampler collects the points of one instant.
type sampler struct {
	View
	gone   []bool // of each claim of the record: its owner is gone
	points []Point
}

// add takes labels as pairs of name and value, sorted by name.
func (s *sampler) add(name string, value float64, labels ...string) {
	p := Point{Name: name, Value: value}
	for i := 0; i < len(labels); i += 2 {
		p.Labels = append(p.Labels, Label{labels[i], labels[i+1]})
	}
	s.points = append(s.points, p)
}

// losses counts the pairs and addresses that the routing tables drop.
func (s *sampler) losses() {
	type pair struct {
		from string
		to   netip.Addr
	}
	pairs, addrs := map[pair]bool{}, map[netip.Addr]bool{}
	var pairsOf, addrsOf perFamily
	for _, l := range s.Losses {
		if p := (pair{l.From, l.To}); !pairs[p] {
			pairs[p] = true
			pairsOf.add(l.To)
		}
		if !addrs[l.To] {
			addrs[l.To] = true
			addrsOf.add(l.To)
		}
	}
	s.add(BlackholedPairs, float64(len(pairs)))
	s.add(Blackholed, float64(len(addrs)))
	if slices.ContainsFunc(s.Networks, func(n model.Network) bool { return dual(&n) }) {
		s.families(BlackholedPairsPerFamily, pairsOf)
		s.families(BlackholedPerFamily, addrsOf)
	}
}
