package whereabouts_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"pgregory.net/rapid"

	"ipamsim/model"
	reference "ipamsim/model/reference/whereabouts"
	"ipamsim/sim"
)

// The same with node slices: the real controller cuts them while nodes come and
// go, and configurations change.
func TestConformanceSlices(t *testing.T) {
	conform(t, drawSlicedHistory, compareSlices)
}

const (
	join   verb = "node joins"
	leave  verb = "node object deleted"
	change verb = "configuration changes"
)

// Sizes that run out: two to four slices of two to fourteen addresses.
var drawSliced = rapid.Custom(func(t *rapid.T) configuration {
	p := rapid.SampledFrom([]string{"10.0.0.0/28", "10.0.0.0/27", "10.0.0.16/28", "10.1.0.0/24"}).Draw(t, "range")
	r := rangeOf{Prefix: netip.MustParsePrefix(p)}
	r.Exclude = rapid.SampledFrom([][]netip.Prefix{nil, {netip.MustParsePrefix("10.0.0.1/32")}}).Draw(t, "exclude")
	return configuration{
		Ranges: []rangeOf{r},
		Name:   rapid.SampledFrom([]string{"", "blue"}).Draw(t, "name"),
		Alone:  rapid.SampledFrom([]bool{false, false, true}).Draw(t, "alone"),
		Slice:  min(r.Prefix.Bits()+rapid.IntRange(0, 2).Draw(t, "size"), 30),
	}
})

var drawSlicedHistory = rapid.Custom(func(t *rapid.T) history {
	h := history{networks: []configuration{drawSliced.Draw(t, "network")}}
	if rapid.IntRange(0, 5).Draw(t, "two networks") == 5 {
		second := drawSliced.Draw(t, "second")
		if second.Slice = h.networks[0].Slice; second.Name == h.networks[0].Name {
			second.Slice = 0 // they differ, and nothing is cut; alike they would share their slices
		}
		if second.Slice < second.Ranges[0].Prefix.Bits() {
			second.Slice = 0
		}
		h.networks = append(h.networks, second)
	}
	for n := range rapid.SampledFrom([]int{3, 2, 1, 0}).Draw(t, "nodes") {
		h.ops = append(h.ops, operation{Verb: join, Node: n})
	}
	verbs := slices.Concat(slices.Repeat([]verb{start}, 8), []verb{add, add, del, del, join, leave, crash, reconcile, object, change})
	op := rapid.Custom(func(t *rapid.T) operation {
		o := operation{Verb: rapid.SampledFrom(verbs).Draw(t, "verb"), Node: rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 3}).Draw(t, "node")}
		o.Pod = 4*rapid.IntRange(0, 7).Draw(t, "pod") + o.Node // a pod stays where it is
		switch o.Verb {
		case start, add, del:
			o.Network = rapid.IntRange(0, len(h.networks)-1).Draw(t, "network")
		case object:
			o.Shape = rapid.SampledFrom(shapes).Draw(t, "shape")
		case change:
			o.Which = rapid.IntRange(0, 2).Draw(t, "how")
		}
		return o
	})
	for _, day := range rapid.SliceOfN(rapid.SliceOfN(op, 1, 8), 1, 6).Draw(t, "days") {
		h.ops = append(h.ops, day...)
	}
	return h
})

func compareSlices(t *testing.T, h history) (diff string) {
	t.Helper()
	simulateOn(t, server(t).BeginMemory(), timed(t, 1), sim.Options{Seed: 1}, h.sections(), func(_ context.Context, w *world) {
		p := &slicedPair{pair: newPair(w, h), nodes: map[string]bool{}}
		p.sliced = true
		p.networks = slices.Clone(h.networks) // they change, and the history is shown
		controller := w.background("node-slice-controller", "")
		defer w.Kill(controller.ID)
		p.settle(p.nets...)
		diff = h.play(p.pair, p.play)
	})
	return diff
}

type slicedPair struct {
	*pair
	nodes map[string]bool
}

func (p *slicedPair) play(o operation) string {
	name := nodeName(o.Node)
	switch o.Verb {
	case join:
		if !p.nodes[name] {
			p.node(name)
			p.nodes[name] = true
			p.settle(p.nets...)
		}
	case leave:
		if p.nodes[name] {
			if err := p.api.Resource(nodesGVR).Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
				p.t.Error(err)
			}
			delete(p.nodes, name)
			p.settle(p.nets...)
		}
	case change:
		if p.change(o.Which) {
			p.settle(p.nets[0]) // the controller receives no events of the others
		}
	default:
		if diff := p.pair.play(o); diff != "" {
			return diff
		}
	}
	if p.unknown {
		return ""
	}
	want, got := p.cuts(), p.realCuts()
	if want != got {
		return fmt.Sprintf("the reference cuts\n%s\nthe real controller\n%s", want, got)
	}
	return ""
}

// change gives the first network another size or range, or an exclude. It returns false if nothing
// changes: the controller then receives no event.
func (p *slicedPair) change(how int) bool {
	c := p.networks[0]
	c.Ranges = slices.Clone(c.Ranges)
	switch r := &c.Ranges[0]; how {
	case 0:
		c.Slice = r.Prefix.Bits() + (c.Slice-r.Prefix.Bits()+1)%3
		c.Slice = min(c.Slice, 30)
	case 1:
		if r.Prefix.Bits() > 26 {
			r.Prefix = netip.PrefixFrom(r.Prefix.Addr(), 55-r.Prefix.Bits()) // /27 and /28 change places
		}
		c.Slice = max(c.Slice, r.Prefix.Bits())
	case 2:
		r.Exclude = []netip.Prefix{netip.MustParsePrefix("10.0.0.2/32")}
	}
	if c.section() == p.networks[0].section() {
		return false
	}
	p.networks[0] = c
	n, err := reference.NewNetwork(c.policy("default/n0"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.nets[0] = n
	config := configured("n0", c.section())
	p.world.networks["n0"] = config
	patch := fmt.Sprintf(`[{"op":"replace","path":"/spec/config","value":%q}]`, config)
	if _, err := p.api.Resource(nadsGVR).Namespace("default").Patch(context.Background(), "n0", types.JSONPatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		p.t.Error(err)
	}
	return true
}

// settle lets the controller act about some networks, on both sides.
func (p *slicedPair) settle(about ...*reference.Network) {
	time.Sleep(3 * time.Second)
	var nodes []string
	for n := range p.nodes {
		nodes = append(nodes, n)
	}
	for _, n := range about {
		if err := p.ref.Cut(n, p.nets, nodes); errors.Is(err, reference.ErrNotModelled) {
			p.unknown = true
		}
	}
}

// cuts are the reference's node slices.
func (p *slicedPair) cuts() string {
	var out []string
	seen := map[string]bool{}
	for _, n := range p.nets {
		s := p.ref.Slices(n)
		if s == nil || seen[s.Name] {
			continue
		}
		seen[s.Name] = true
		text := fmt.Sprintf("  %s: %s /%d", s.Name, s.Range, s.Size)
		for _, x := range s.All {
			text += fmt.Sprintf(" %s=%s", x.Prefix, x.Node)
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func (p *slicedPair) realCuts() string {
	gvr := poolsGVR
	gvr.Resource = "nodeslicepools"
	l, err := p.api.Resource(gvr).Namespace("kube-system").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		p.t.Error(err)
		return ""
	}
	var out []string
	for _, o := range l.Items {
		r, _, _ := unstructured.NestedString(o.Object, "spec", "range")
		size, _, _ := unstructured.NestedString(o.Object, "spec", "sliceSize")
		text := fmt.Sprintf("  %s: %s %s", o.GetName(), r, size)
		all, _, _ := unstructured.NestedSlice(o.Object, "status", "allocations")
		for _, a := range all {
			m, _ := a.(map[string]any)
			node, _ := m["nodeName"].(string)
			text += fmt.Sprintf(" %s=%s", m["sliceRange"], node)
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// unnamed is a snapshot without the fields that are derived from names of objects: the network and
// node of a pool cannot be derived from its name after ranges have changed.
func unnamed(s model.Snapshot) model.Snapshot {
	s.Pools, s.Claims = slices.Clone(s.Pools), slices.Clone(s.Claims)
	for i := range s.Pools {
		s.Pools[i].Network, s.Pools[i].Node = "", ""
	}
	for i := range s.Claims {
		s.Claims[i].Network = ""
	}
	return s
}
