package whereabouts_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"ipamsim/model"
)

// A history is what TestConformance plays to the real code and to the reference:
// a few configurations, and operations that follow one another. rapid draws it
// piece by piece, so that it shrinks piece by piece.
type history struct {
	networks []configuration
	ops      []operation
}

// String is the history as a list that a person can follow.
func (h history) String() string {
	var b strings.Builder
	for i, n := range h.networks {
		fmt.Fprintf(&b, "  network %d: %s\n", i, n.section())
	}
	for i, o := range h.ops {
		fmt.Fprintf(&b, "  %2d. %s\n", i+1, o)
	}
	return b.String()
}

// configuration is one network attachment's, as a user would write it.
type configuration struct {
	Ranges  []rangeOf
	Name    string // network_name
	Alone   bool   // enable_overlapping_ranges: false
	Compact bool   // START-END/BITS where both ends are given
	Gateway bool   // the first address of the first range is the gateway; it is handed out all the same
	Slice   int
}

// rangeOf is one range. Start and End may be missing, and lie at a range's edge.
type rangeOf struct {
	Prefix     netip.Prefix
	Start, End netip.Addr
	Exclude    []netip.Prefix
}

// section is the ipam section. The first range stands at the top, the way most
// people write it, the others in ipRanges.
func (c configuration) section() string {
	top := map[string]any{"type": "whereabouts"}
	var rest []any
	for i, r := range c.Ranges {
		o := map[string]any{}
		if i == 0 {
			o = top
		} else {
			rest = append(rest, o)
		}
		o["range"] = r.Prefix.String()
		if c.Compact && r.Start.IsValid() && r.End.IsValid() {
			// Behind the dash stands the last address with the length of the prefix.
			o["range"] = fmt.Sprintf("%s-%s/%d", r.Start, r.End, r.Prefix.Bits())
		} else {
			if r.Start.IsValid() {
				o["range_start"] = r.Start.String()
			}
			if r.End.IsValid() {
				o["range_end"] = r.End.String()
			}
		}
		for _, x := range r.Exclude {
			text := x.String()
			if x.IsSingleIP() {
				text = x.Addr().String()
			}
			l, _ := o["exclude"].([]string)
			o["exclude"] = append(l, text)
		}
	}
	if rest != nil {
		top["ipRanges"] = rest
	}
	if c.Gateway {
		top["gateway"] = c.Ranges[0].Prefix.Addr().Next().String()
	}
	if c.Name != "" {
		top["network_name"] = c.Name
	}
	if c.Alone {
		top["enable_overlapping_ranges"] = false
	}
	if c.Slice > 0 {
		top["node_slice_size"] = fmt.Sprintf("/%d", c.Slice)
	}
	b, _ := json.Marshal(top) // strings, numbers and lists
	return string(b)
}

// policy is the same for the reference, as drawn: it has its own idea of what the
// ends of a range mean.
func (c configuration) policy(key string) model.Network {
	n := model.Network{Key: key, Name: c.Name, Overlap: !c.Alone, Slice: c.Slice}
	for _, r := range c.Ranges {
		n.Ranges = append(n.Ranges, model.Range{Prefix: r.Prefix, Start: r.Start, End: r.End, Exclude: r.Exclude})
	}
	return n
}

// The places where ranges lie: they overlap, cross a byte, end at the end of the
// world, and have addresses that end in two colons. Small ones run out.
var places = []struct {
	prefix netip.Prefix
	ends   []string // interesting addresses
}{
	{netip.MustParsePrefix("10.0.0.0/29"), []string{"10.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.5"}},
	{netip.MustParsePrefix("10.0.0.0/28"), []string{"10.0.0.4", "10.0.0.6", "10.0.0.9", "10.0.0.14"}},
	{netip.MustParsePrefix("10.0.0.0/24"), []string{"10.0.0.3", "10.0.0.64", "10.0.0.200"}},
	{netip.MustParsePrefix("10.0.0.4/30"), []string{"10.0.0.5", "10.0.0.6"}},
	{netip.MustParsePrefix("10.0.0.0/23"), []string{"10.0.0.3", "10.0.0.254", "10.0.1.1", "10.0.1.254"}},
	{netip.MustParsePrefix("255.255.255.248/29"), []string{"255.255.255.252", "255.255.255.254"}},
	{netip.MustParsePrefix("fd00::/125"), []string{"fd00::", "fd00::1", "fd00::3", "fd00::6"}},
	{netip.MustParsePrefix("fd00::/64"), []string{"fd00::2", "fd00::ffff", "fd00::1:0:0", "fd00::7fff:ffff:ffff:fff0"}},
	{netip.MustParsePrefix("2001:db8::/32"), []string{"2001:db8::2", "2001:db8::ffff", "2001:db8::1:0:0"}},
	{netip.MustParsePrefix("fd00:1:2:3:4:4::/95"), []string{"fd00:1:2:3:4:4:ffff:fffe", "fd00:1:2:3:4:5::", "fd00:1:2:3:4:5::3"}},
}

var excludes = func() (out []netip.Prefix) {
	for _, s := range strings.Fields("10.0.0.1/32 10.0.0.2/31 10.0.0.0/30 10.0.0.4/30 10.0.0.254/31 10.0.0.192/26 255.255.255.254/31 fd00::1/128 fd00::/126 fd00::/112 fd00:1:2:3:4:5::/128 fd00:1:2:3:4:4::/96") {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}()

var drawRange = rapid.Custom(func(t *rapid.T) rangeOf {
	p := rapid.SampledFrom(places).Draw(t, "place")
	r := rangeOf{Prefix: p.prefix}
	end := func(label string) netip.Addr {
		if i := rapid.IntRange(0, len(p.ends)).Draw(t, label); i > 0 {
			return netip.MustParseAddr(p.ends[i-1])
		}
		return netip.Addr{}
	}
	r.Start, r.End = end("start"), end("end")
	if r.End == p.prefix.Addr() || r.Start.IsValid() && r.End.Less(r.Start) {
		r.End = netip.Addr{} // the adapter refuses those
	}
	r.Exclude = rapid.SliceOfNDistinct(rapid.SampledFrom(excludes), 0, 2, rapid.ID).Draw(t, "exclude")
	return r
})

var drawConfiguration = rapid.Custom(func(t *rapid.T) configuration {
	return configuration{
		Ranges:  rapid.SliceOfN(drawRange, 1, 3).Draw(t, "ranges"),
		Name:    rapid.SampledFrom([]string{"", "", "", "blue"}).Draw(t, "name"),
		Alone:   rapid.SampledFrom([]bool{false, false, false, true}).Draw(t, "alone"),
		Compact: rapid.Bool().Draw(t, "compact"),
		Gateway: rapid.Bool().Draw(t, "gateway"),
	}
})

// verb is what an operation does.
type verb string

const (
	start     verb = "ADD, then Running with its addresses in its status:"
	add       verb = "ADD"
	del       verb = "DEL"
	lateDel   verb = "DEL of the container before"
	crash     verb = "crash without DEL, new container"
	object    verb = "pod object"
	reconcile verb = "ip-reconciler"
	release   verb = "kubectl edit: allocation taken out"
	unpool    verb = "kubectl delete ippool"
	unreserve verb = "kubectl delete reservation"
	reserve   verb = "kubectl create reservation"
)

// operation is one line of a history. The verb determines which of its numbers count; all are
// small, and taken modulo the number of elements.
type operation struct {
	Verb           verb
	Pod, Interface int
	Node           int
	Network        int
	Shape          shape
	Which          int // the n-th allocation, pool or reservation; how many to reserve
}

// shape is what the API server says of a pod.
type shape string

const (
	gone       shape = "deleted"
	silent     shape = "Pending, no status"
	early      shape = "Pending, addresses in its status"
	ready      shape = "Running, addresses in its status"
	partly     shape = "Running, the first address in its status"
	mute       shape = "Running, no status"
	garbled    shape = "Running, its status is not JSON"
	elsewhere  shape = "Running, addresses on the default network"
	longhand   shape = "Running, addresses in longhand in its status"
	evicted    shape = "Running, addresses in its status, deleted by the taint manager"
	terminated shape = "Running, addresses in its status, being deleted"
)

var shapes = []shape{ready, silent, gone, early, partly, mute, garbled, elsewhere, longhand, evicted, terminated}

func (o operation) String() string {
	pod, iface := web(o.Pod), fmt.Sprint("net", o.Interface+1)
	switch o.Verb {
	case join, leave:
		return fmt.Sprintf("%s: %s", o.Verb, nodeName(o.Node))
	case change:
		return fmt.Sprintf("%s: %s", o.Verb, []string{"other size of slices", "other range", "other excludes"}[o.Which])
	case start, add, del, lateDel:
		return fmt.Sprintf("%s %s %s in network %d on node %s", o.Verb, pod, iface, o.Network, nodeName(o.Node))
	case crash:
		return fmt.Sprintf("%s %s", pod, o.Verb)
	case object:
		return fmt.Sprintf("pod %s: %s", pod, o.Shape)
	case release, unpool, unreserve:
		return fmt.Sprintf("%s, number %d", o.Verb, o.Which)
	case reserve:
		return fmt.Sprintf("%s: the first %d of network %d, for the pod other", o.Verb, o.Which, o.Network)
	}
	return string(o.Verb)
}

// verbs are drawn with these frequencies: normal operations more often than actions of operators.
var verbs = slices.Concat(slices.Repeat([]verb{add, start}, 8), slices.Repeat([]verb{del, object, reconcile}, 4),
	[]verb{crash, crash, lateDel, release, unpool, unreserve, unreserve, reserve, reserve})

var drawHistory = rapid.Custom(func(t *rapid.T) history {
	h := history{networks: rapid.SliceOfN(drawConfiguration, 1, 3).Draw(t, "networks")}
	op := drawOperation(len(h.networks))
	// Days of operations: a list of rapid's own length is too short for a cluster.
	for _, day := range rapid.SliceOfN(rapid.SliceOfN(op, 1, 8), 1, 8).Draw(t, "days") {
		h.ops = append(h.ops, day...)
	}
	return h
})

func drawOperation(networks int) *rapid.Generator[operation] {
	return rapid.Custom(func(t *rapid.T) operation {
		o := operation{Verb: rapid.SampledFrom(verbs).Draw(t, "verb")}
		switch o.Verb {
		case reconcile:
		case reserve: // an ADD has time for 28
			o.Which = rapid.SampledFrom([]int{1, 2, 3, 26, 27, 28, 29, 30}).Draw(t, "how many")
		case release, unpool, unreserve:
			o.Which = rapid.IntRange(0, 5).Draw(t, "which")
		default:
			o.Pod = rapid.IntRange(0, 4).Draw(t, "pod")
		}
		switch o.Verb {
		case start, add, del, lateDel, reserve:
			o.Network = rapid.IntRange(0, networks-1).Draw(t, "network")
			o.Interface = rapid.IntRange(0, 1).Draw(t, "interface")
		case object:
			o.Shape = rapid.SampledFrom(shapes).Draw(t, "shape")
		}
		return o
	})
}
