package whereabouts_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"pgregory.net/rapid"

	"ipamsim/model"
	reference "ipamsim/model/reference/whereabouts"
	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/strategy"
)

// Under any sequence of operations, the reference assigns the same addresses as the real plugin,
// refuses the same requests, and has the same record after every operation.
func TestConformance(t *testing.T) {
	conform(t, drawHistory, compare)
}

// TestConformanceIPv6 is the same where the first network always has a range of IPv6.
func TestConformanceIPv6(t *testing.T) {
	conform(t, rapid.Custom(func(t *rapid.T) history {
		h := drawHistory.Draw(t, "history")
		first := &h.networks[0].Ranges
		if !slices.ContainsFunc(*first, func(r rangeOf) bool { return r.Prefix.Addr().Is6() }) {
			*first = append(*first, drawRange.Filter(func(r rangeOf) bool { return r.Prefix.Addr().Is6() }).Draw(t, "of IPv6"))
		}
		return h
	}), compare)
}

// conform plays histories until one shows a difference, and then looks for the
// shortest that does. Most of what rapid tries there is a history it has tried
// before, drawn otherwise: those are not played again.
func conform(t *testing.T, draw *rapid.Generator[history], compare func(*testing.T, history) string) {
	played := map[string]string{}
	rapid.Check(t, func(rt *rapid.T) {
		h := draw.Draw(rt, "history")
		text := h.String()
		diff, ok := played[text]
		if !ok {
			diff = compare(t, h)
			played[text] = diff
		}
		if diff != "" {
			rt.Fatalf("%s\n%s", diff, text)
		}
	})
}

// compare plays a history to both and says where they part, or "".
func compare(t *testing.T, h history) (diff string) {
	t.Helper()
	simulateOn(t, server(t).BeginMemory(), strategy.NewSerial(), sim.Options{}, h.sections(), func(_ context.Context, w *world) {
		p := newPair(w, h)
		diff = h.play(p, p.play)
	})
	return diff
}

// sections are the configurations of the networks, by name.
func (h history) sections() map[string]string {
	networks := map[string]string{}
	for i, n := range h.networks {
		networks[fmt.Sprint("n", i)] = n.section()
	}
	return networks
}

// play does the operations in turn until the two sides differ, and says how, or
// until the reference cannot follow.
func (h history) play(p *pair, play func(operation) string) string {
	for i, o := range h.ops {
		if diff := play(o); diff != "" {
			return fmt.Sprintf("operation %d, %s: %s", i+1, o, diff)
		}
		if p.unknown {
			break
		}
	}
	return ""
}

// pair is the real code and the reference side by side.
type pair struct {
	*world
	networks   []configuration
	ref        *reference.Record
	nets       []*reference.Network
	containers map[int]int // how many sandboxes a pod has had before this one
	pods       map[model.PodRef]*reference.Pod
	crashed    bool
	sliced     bool
	unknown    bool // the reference cannot follow any further
}

func newPair(w *world, h history) *pair {
	p := &pair{world: w, networks: h.networks, ref: reference.New(), containers: map[int]int{}, pods: map[model.PodRef]*reference.Pod{}}
	for i, c := range h.networks {
		n, err := reference.NewNetwork(c.policy(fmt.Sprint("default/n", i)))
		if err != nil {
			w.t.Fatal(err)
		}
		p.nets = append(p.nets, n)
	}
	w.Hooks.Panic = func(sim.ActorID, any, string) { p.crashed = true }
	return p
}

// play does one operation on both sides and compares them.
func (p *pair) play(o operation) string {
	var want, got string
	switch o.Verb {
	case start, add:
		c := p.call(o, p.containers[o.Pod])
		addrs, err := p.ref.Add(p.nets[o.Network], asked(c))
		want, got = outcome(addrs, err), p.realAdd(c)
		if o.Verb == start {
			p.object(operation{Pod: o.Pod, Shape: ready})
		}
	case del, lateDel:
		n := p.containers[o.Pod]
		if o.Verb == lateDel {
			n--
		}
		c := p.call(o, n)
		want = outcome(nil, p.ref.Del(p.nets[o.Network], asked(c)))
		p.crashed = false
		wait(p.del(c))
		got = p.outcome(nil, nil)
	case crash:
		p.containers[o.Pod]++
	case object:
		p.object(o)
	case reconcile:
		want = passText(p.ref.Reconcile(reference.AddressInStatus, p.listed()))
		before := len(p.Trace().Steps)
		wait(p.background("ip-reconciler", ""))
		got = writesText(p.Trace().Steps[before:])
	default:
		p.hand(o)
	}
	switch {
	case want == reference.ErrNotModelled.Error():
		p.unknown = true
		return ""
	case want != got:
		return fmt.Sprintf("the reference says %s, the real code %s", want, got)
	}
	a, b := p.ref.Snapshot(), p.snapshot()
	if p.sliced {
		a, b = unnamed(a), unnamed(b)
	}
	if a, b := recordText(a), recordText(b); a != b {
		return fmt.Sprintf("the reference holds\n%s\nthe real datastore\n%s", a, b)
	}
	return ""
}

func (p *pair) call(o operation, container int) ipam.Call {
	c := call(p.world, web(o.Pod), nodeName(o.Node), fmt.Sprint("n", o.Network), fmt.Sprint("net", o.Interface+1))
	c.Container = fmt.Sprintf("%s-%d", c.Container, container)
	return c
}

func nodeName(i int) string { return string(rune('a' + i)) }

func asked(c ipam.Call) reference.Call {
	return reference.Call{Node: c.Node, Pod: c.Pod, Container: c.Container, Interface: c.Interface}
}

// realAdd executes the plugin.
func (p *pair) realAdd(c ipam.Call) string {
	p.crashed = false
	wait(p.add(c))
	p.mu.Lock()
	defer p.mu.Unlock()
	key := c.Container + "/" + c.Interface
	r, err := p.got[key], p.errs[key]
	delete(p.got, key)
	delete(p.errs, key)
	return p.outcome(r.Addrs, err)
}

// outcome is the result of the real plugin in the terms of the reference.
func (p *pair) outcome(addrs []netip.Prefix, err error) string {
	switch {
	case p.crashed:
		err = reference.ErrCrash
	case errors.Is(err, ipam.ErrExhausted):
		err = reference.ErrExhausted
	case err != nil && (strings.Contains(err.Error(), "would exceed context deadline") || strings.Contains(err.Error(), "context deadline exceeded")):
		err = reference.ErrTime
	}
	return outcome(addrs, err)
}

func outcome(addrs []netip.Prefix, err error) string {
	for _, kind := range []error{reference.ErrExhausted, reference.ErrTime, reference.ErrCrash, reference.ErrNotModelled} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(addrs)
}

// object replaces the pod object at the API server.
func (p *pair) object(o operation) {
	ref := model.PodRef{Namespace: "default", Name: web(o.Pod)}
	if p.pods[ref] != nil {
		p.deletePod(ref.Name)
		delete(p.pods, ref)
	}
	if o.Shape == gone {
		return
	}
	addrs := p.held(ref)
	pod := &reference.Pod{Ref: ref, IPs: addrs, Pending: o.Shape == silent || o.Shape == early, Marked: o.Shape == evicted}
	network := map[string]any{"name": "default/n0", "interface": "net1"}
	switch o.Shape {
	case silent, mute, garbled, elsewhere:
		pod.IPs = nil
	case partly:
		pod.IPs = addrs[:min(1, len(addrs))]
	case longhand:
		for i, a := range addrs {
			addrs[i] = netip.MustParseAddr(a).StringExpanded()
		}
	}
	network["ips"] = pod.IPs
	if o.Shape == elsewhere {
		network["ips"], network["default"] = addrs, true
	}
	status, _ := json.Marshal([]any{network})
	m := meta(ref.Name)
	if o.Shape != silent && o.Shape != mute {
		m["annotations"] = map[string]any{"k8s.v1.cni.cncf.io/network-status": strings.TrimSuffix(string(status), map[bool]string{true: "]"}[o.Shape == garbled])}
	}
	p.create(podsGVR, map[string]any{"metadata": m, "spec": map[string]any{"nodeName": "a", "containers": []any{map[string]any{"name": "c", "image": "i"}}}})
	p.phase(ref.Name, o.Shape)
	if grace := int64(30); o.Shape == terminated {
		if err := p.api.Resource(podsGVR).Namespace("default").Delete(context.Background(), ref.Name, metav1.DeleteOptions{GracePeriodSeconds: &grace}); err != nil {
			p.t.Error(err)
		}
	}
	p.pods[ref] = pod
}

// phase sets the pod's status; a pod is Pending when it is made.
func (p *pair) phase(name string, s shape) {
	patch := map[string]any{"phase": "Running"}
	if s == silent || s == early {
		return
	}
	if s == evicted {
		patch["conditions"] = []any{map[string]any{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager"}}
	}
	b, _ := json.Marshal(map[string]any{"status": patch})
	if _, err := p.api.Resource(podsGVR).Namespace("default").Patch(context.Background(), name, types.MergePatchType, b, metav1.PatchOptions{}, "status"); err != nil {
		p.t.Error(err)
	}
}

// held lists the addresses that the pod has by the record, in the order of pools.
func (p *pair) held(pod model.PodRef) (out []string) {
	for _, c := range p.snapshot().Claims {
		if c.Pod == pod {
			out = append(out, c.Addr.String())
		}
	}
	return out
}

func (p *pair) listed() (out []reference.Pod) {
	for _, pod := range p.pods {
		out = append(out, *pod)
	}
	return out
}

// passText is what a pass writes, in its order: the pools, then the reservations.
func passText(pass reference.Pass) string {
	var out []string
	for _, c := range pass.Claims {
		out = append(out, "PATCH ippools/kube-system/"+c.Pool)
	}
	for _, r := range pass.Reservations {
		out = append(out, "DELETE overlappingrangeipreservations/kube-system/"+r.Name)
	}
	return strings.Join(slices.Compact(out), ", ")
}

// writesText is what the real reconciler wrote.
func writesText(steps []*sim.Step) string {
	var out []string
	for _, s := range steps {
		if k := s.Choice.Op.Key; s.Choice.Op.Actor == "ip-reconciler" && !strings.HasPrefix(k, "LIST ") && !strings.HasPrefix(k, "GET ") {
			out = append(out, k)
		}
	}
	return strings.Join(out, ", ")
}

// hand is an operator's kubectl.
func (p *pair) hand(o operation) {
	s := p.snapshot()
	switch o.Verb {
	case reserve:
		p.reserve(o)
	case release:
		if len(s.Claims) > 0 {
			c := s.Claims[o.Which%len(s.Claims)]
			p.edit("ippools", c.Pool, fmt.Sprintf(`[{"op":"remove","path":"/spec/allocations/%s"}]`, p.offset(c.Pool, c.Addr)))
			p.ref.Release(c.Pool, c.Addr)
		}
	case unpool:
		if len(s.Pools) > 0 {
			name := s.Pools[o.Which%len(s.Pools)].Name
			p.remove("ippools", name)
			p.ref.DeletePool(name)
		}
	case unreserve:
		if len(s.Reservations) > 0 {
			name := s.Reservations[o.Which%len(s.Reservations)].Name
			p.remove("overlappingrangeipreservations", name)
			p.ref.DeleteReservation(name)
		}
	}
}

// reserve writes reservations of the first addresses of a network's first range,
// where there are none yet, for a pod that holds nothing.
func (p *pair) reserve(o operation) {
	n := p.networks[o.Network]
	a := n.Ranges[0].Start
	if !a.IsValid() || a == n.Ranges[0].Prefix.Addr() {
		a = n.Ranges[0].Prefix.Addr().Next()
	}
	pod := model.PodRef{Namespace: "default", Name: "other"}
	for range o.Which {
		if !n.Ranges[0].Prefix.Contains(a) {
			break
		}
		if !slices.ContainsFunc(p.snapshot().Reservations, func(r model.Reservation) bool { return r.Network == n.Name && r.Addr == a }) {
			p.ref.Reserve(n.Name, a, pod, "net1")
			name := strings.ReplaceAll(a.String(), ":", "-")
			if strings.HasSuffix(name, "-") {
				name += "0"
			}
			if n.Name != "" {
				name = n.Name + "-" + name
			}
			p.create(reservationsGVR, map[string]any{"metadata": map[string]any{"name": name, "namespace": "kube-system"}, "spec": map[string]any{"podref": pod.String(), "ifname": "net1"}})
		}
		a = a.Next()
	}
	time.Sleep(time.Millisecond)
}

func (p *pair) remove(resource, name string) {
	gvr := poolsGVR
	gvr.Resource = resource
	if err := p.api.Resource(gvr).Namespace("kube-system").Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		p.t.Error(err)
	}
	time.Sleep(time.Millisecond)
}

// offset is the key of an allocation.
func (p *pair) offset(pool string, a netip.Addr) string {
	s := p.snapshot()
	i := slices.IndexFunc(s.Pools, func(x model.Pool) bool { return x.Name == pool })
	base, n := s.Pools[i].Range.Addr().As16(), a.As16()
	return new(big.Int).Sub(new(big.Int).SetBytes(n[:]), new(big.Int).SetBytes(base[:])).String()
}

func recordText(s model.Snapshot) string {
	var out []string
	for _, p := range s.Pools {
		out = append(out, fmt.Sprintf("  pool %s: network %q, node %q, %s", p.Name, p.Network, p.Node, p.Range))
	}
	for _, c := range s.Claims {
		out = append(out, fmt.Sprintf("  %s in %s (%q): %s, %s, %s", c.Addr, c.Pool, c.Network, c.Pod, c.Container, c.Interface))
	}
	for _, r := range s.Reservations {
		out = append(out, fmt.Sprintf("  reservation %s: %q %s, %s, %s", r.Name, r.Network, r.Addr, r.Pod, r.Interface))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}
