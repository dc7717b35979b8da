package whereabouts

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
)

// Slices is a NodeSlicePool: a range cut into slices of equal size, in the order
// of addresses, and which node has which.
type Slices struct {
	Name  string
	Range netip.Prefix
	Size  int    // prefix length of a slice
	Owner string // the network that they were cut for, NAMESPACE/NAME
	All   []Slice

	of map[string]int // by node, into All
}

// Slice is a node's part of a range; Node is "" if the slice is free.
type Slice struct {
	Prefix netip.Prefix
	Node   string
}

// Cut reconciles one network as the node-slice controller does, given the current networks and
// nodes. It cuts the network's range, again if the range or the size has changed; gives a node
// without a slice the lowest free one (none if all are taken); and then, unless it has just
// cut, frees the slices of nodes that are gone. So another node can get a freed slice only at
// the next call.
//
// If several nodes are new in one call, upstream's order is that of a Go map, and the error
// wraps ErrNotModelled. The error wraps ErrMismatch if networks of the same network_name, none
// included, differ; then nothing has changed.
//
// Source: pkg/node-controller/controller.go, syncHandler (v0.9.4).
func (r *Record) Cut(n *Network, networks []*Network, nodes []string) error {
	if len(n.ranges) == 0 {
		return nil
	}
	for _, m := range networks {
		if m.name == n.name && len(m.ranges) > 0 && (m.ranges[0].prefix != n.ranges[0].prefix || m.slice != n.slice) {
			return fmt.Errorf("whereabouts: slices of %s: %s: %w", n.key, m.key, ErrMismatch)
		}
	}
	if n.slice == 0 {
		return nil
	}
	old := r.slices[n.sliceName()]
	if old != nil && old.Owner != n.key {
		return fmt.Errorf("whereabouts: slices of %s belong to %s: %w", n.key, old.Owner, ErrNotModelled)
	}
	s := &Slices{Name: n.sliceName(), Range: n.ranges[0].prefix, Size: n.slice, Owner: n.key}
	kept := old != nil && old.Range == s.Range && old.Size == s.Size
	if kept {
		s.All = slices.Clone(old.All)
	} else {
		s.All = cut(s.Range, s.Size)
	}
	if !s.assign(nodes) {
		return fmt.Errorf("whereabouts: slices of %s: several new nodes in one call: %w", n.key, ErrNotModelled)
	}
	for i := range s.All {
		if kept && !slices.Contains(nodes, s.All[i].Node) {
			s.All[i].Node = ""
		}
	}
	s.index()
	r.slices[s.Name] = s
	return nil
}

func (s *Slices) index() {
	s.of = map[string]int{}
	for i, x := range s.All {
		if x.Node != "" {
			s.of[x.Node] = i
		}
	}
}

// assign gives a new node the lowest free slice. It is false if there are several
// new nodes and something to give.
func (s *Slices) assign(nodes []string) bool {
	has := map[string]bool{}
	for _, x := range s.All {
		has[x.Node] = true
	}
	fresh := slices.DeleteFunc(slices.Clone(nodes), func(n string) bool { return has[n] })
	lowest := slices.IndexFunc(s.All, func(x Slice) bool { return x.Node == "" })
	if len(fresh) == 0 || lowest < 0 {
		return true
	}
	s.All[lowest].Node = fresh[0]
	return len(fresh) == 1
}

// cut divides a range.
//
// Source: pkg/iphelpers, DivideRangeBySize (v0.9.4).
func cut(r netip.Prefix, size int) []Slice {
	out := make([]Slice, 1<<(size-r.Bits()))
	for i, a := 0, r.Addr(); i < len(out); i++ {
		out[i].Prefix = netip.PrefixFrom(a, size)
		a = model.LastAddr(out[i].Prefix).Next()
	}
	return out
}

func (n *Network) sliceName() string {
	if n.name != "" {
		return n.name
	}
	_, name, _ := strings.Cut(n.key, "/")
	return name
}

// sliceOf is the slice of a node, if it has one.
func (r *Record) sliceOf(n *Network, node string) (netip.Prefix, bool) {
	s := r.slices[n.sliceName()]
	if s == nil {
		return netip.Prefix{}, false
	}
	i, ok := s.of[node]
	if !ok {
		return netip.Prefix{}, false
	}
	return s.All[i].Prefix, true
}

// Slices is the node slices of a network; nil if none were cut.
func (r *Record) Slices(n *Network) *Slices { return r.slices[n.sliceName()] }
