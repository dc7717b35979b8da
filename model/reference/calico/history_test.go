package calico

import (
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"time"

	"ipamsim/model"
)

// world is a reference with the cluster around it: what one random history, of
// everything that can happen, is played on.
type world struct {
	*Allocator
	gc   *Collector
	now  time.Duration
	pods map[model.PodRef]Pod
	had  map[model.PodRef]Request // the last ADD of each

	asked map[model.PodRef]*Asked // the same, looked up; nil: ask by name
}

func newWorld(d Datastore) *world {
	w := &world{Allocator: New(d), pods: map[model.PodRef]Pod{}, had: map[model.PodRef]Request{}}
	w.gc = NewCollector(w.Allocator, 15*time.Minute)
	return w
}

// Pod and Changed make the world the collector's API server.
func (w *world) Pod(ref model.PodRef) (Pod, bool) { p, ok := w.pods[ref]; return p, ok }
func (w *world) Changed() ([]model.PodRef, bool)  { return nil, true }

// Few names, so that they meet.
var (
	histNodes = []string{"a", "b", "c", "d"}
	histPools = []Pool{
		{Name: "p0", Prefix: netip.MustParsePrefix("10.0.0.0/27"), BlockBits: 30, IPIP: true},
		{Name: "p1", Prefix: netip.MustParsePrefix("10.0.1.0/28"), BlockBits: 29, VXLAN: true},
		{Name: "p0", Prefix: netip.MustParsePrefix("10.0.0.0/27"), BlockBits: 29},
		{Name: "p1", Prefix: netip.MustParsePrefix("10.0.1.0/28"), BlockBits: 30, NodeSelector: "rack == '1'"},
		{Name: "p0", Prefix: netip.MustParsePrefix("10.0.0.0/27"), BlockBits: 30, Disabled: true},
		{Name: "six", Prefix: netip.MustParsePrefix("fd00::/124"), BlockBits: 127},
		{Name: "all", Prefix: netip.MustParsePrefix("10.0.0.0/26"), BlockBits: 28, NamespaceSelector: "team == 'x'"},
		{Name: "man", Prefix: netip.MustParsePrefix("10.0.2.0/28"), BlockBits: 28, Manual: true},
	}
	histReserved = []string{"10.0.0.0/30", "10.0.0.4/31", "10.0.0.9/32", "10.0.1.0/29", "fd00::/126", "fd00::5/128"}
)

// step is an operation in a world; it returns the result.
type step func(*world) string

// drawStart is a cluster that works.
func drawStart(draw func(int) int) []step {
	var out []step
	for _, n := range histNodes[:1+draw(4)] {
		rack := fmt.Sprint(draw(2))
		out = append(out, func(w *world) string { w.SetNode(n, map[string]string{"rack": rack}); return "join " + n })
	}
	for _, i := range [][]int{{0}, {0, 5}, {1, 0}, {2, 5}, {0, 1, 5}, {0, 3}}[draw(6)] {
		out = append(out, func(w *world) string { return fmt.Sprint("pool ", w.CreatePool(histPools[i])) })
	}
	return out
}

func drawRequest(draw func(int) int) Request {
	pod := fmt.Sprint("p", draw(9))
	q := Request{
		Node: histNodes[draw(4)], Handle: fmt.Sprintf("net.%s-%d", pod, draw(2)), Pod: model.PodRef{Namespace: "ns", Name: pod},
		V4: 1, MaxBlocks: draw(12) / 10,
	}
	switch draw(6) {
	case 4:
		q.V6 = 1
	case 5:
		q.V4, q.V6 = 0, 1
	}
	if draw(6) == 0 {
		q.Pools = []netip.Prefix{histPools[draw(8)].Prefix}
	}
	if draw(4) == 0 {
		q.NamespaceLabels = map[string]string{"team": "x"}
	}
	if draw(12) == 0 {
		q.Handle = "ns." + pod // as versions before v3 called it
	}
	return q
}

// drawStep is anything.
func drawStep(draw func(int) int) step {
	q, n, pool := drawRequest(draw), histNodes[draw(4)], histPools[draw(8)]
	addr := pool.Prefix.Addr()
	for range draw(12) {
		addr = addr.Next()
	}
	switch draw(26) {
	case 0, 1, 2, 3, 4, 5, 6:
		return func(w *world) string { return w.add(q) }
	case 7:
		return func(w *world) string { return w.add(q, addr) }
	case 8, 9, 10, 11, 12:
		return func(w *world) string { return w.del(q.Pod, q.Node == "a") }
	case 13:
		q.V4 *= 2 + draw(6)
		return func(w *world) string {
			v4, v6, err := w.AutoAssign(q)
			return fmt.Sprint("many ", q.Handle, q.Node, v4, v6, err)
		}
	case 14, 15:
		return func(w *world) string {
			delete(w.pods, q.Pod) // no DEL is sent
			return "vanished"
		}
	case 16, 17:
		w8 := time.Duration(draw(20)) * time.Minute
		return func(w *world) string {
			w.now += w8
			return fmt.Sprint("pass ", w.gc.Pass(w.now, w))
		}
	case 18:
		return func(w *world) string { return fmt.Sprint("delete ", w.DeleteNode(n)) }
	case 19:
		rack := fmt.Sprint(draw(2))
		return func(w *world) string { w.SetNode(n, map[string]string{"rack": rack}); return "join" }
	case 20:
		c := Config{Strict: draw(2) == 1, AutoAllocate: draw(5) > 0, MaxBlocks: draw(4)}
		return func(w *world) string { w.Config = c; return "config" }
	default:
		return drawByHand(draw, q, n, pool, addr)
	}
}

// drawByHand is an operator.
func drawByHand(draw func(int) int, q Request, n string, pool Pool, addr netip.Addr) step {
	p := netip.PrefixFrom(addr, pool.BlockBits).Masked()
	switch draw(9) {
	case 0:
		return func(w *world) string { return fmt.Sprint("store ", w.StorePool(pool)) }
	case 1:
		return func(w *world) string { return fmt.Sprint("deletePool ", w.DeletePool(pool.Name)) }
	case 2:
		return func(w *world) string { return fmt.Sprint("removePool ", w.RemovePool(pool.Name)) }
	case 3:
		var all []netip.Prefix
		for range draw(3) {
			all = append(all, netip.MustParsePrefix(histReserved[draw(6)]))
		}
		return func(w *world) string { w.Reserve(all...); return "reserve" }
	case 4:
		return func(w *world) string { return fmt.Sprint("deleteBlock ", w.DeleteBlock(p)) }
	case 5:
		return func(w *world) string { return fmt.Sprint("deleteAffinity ", w.DeleteAffinity(n, p)) }
	case 6:
		all := []Release{{Addr: addr}, {Addr: addr.Next()}, {Addr: histPools[draw(8)].Prefix.Addr()}}[:1+draw(3)]
		return func(w *world) string {
			done, err := w.Release(all...)
			return fmt.Sprint("release ", len(done), err)
		}
	case 7:
		return func(w *world) string { return fmt.Sprint("tunnels ", w.EnsureTunnels(n)) }
	default:
		return func(w *world) string { return fmt.Sprint("handle ", w.ReleaseByHandle(q.Handle)) }
	}
}

func (w *world) add(q Request, fixed ...netip.Addr) string {
	q.Has = w.pods[q.Pod].Addrs
	var got []netip.Addr
	var err error
	if old := w.asked[q.Pod]; old != nil && (fixed != nil || !same(w.had[q.Pod], q)) {
		w.Forget(old)
		delete(w.asked, q.Pod)
	}
	if w.asked != nil && fixed == nil {
		if w.asked[q.Pod] == nil { // else it is asked again
			k, _ := w.Resolve(q)
			w.asked[q.Pod] = &k
		}
		got, err = w.AddAsked(w.asked[q.Pod], nil)
	} else {
		got, err = w.Add(q, fixed...)
	}
	w.had[q.Pod] = q
	if err == nil {
		w.pods[q.Pod] = Pod{Node: q.Node, Addrs: got}
	}
	return fmt.Sprint("add ", q.Handle, q.Node, got, err)
}

func (w *world) del(ref model.PodRef, gone bool) string {
	q, ok := w.had[ref]
	if !ok {
		return "del nobody"
	}
	if gone {
		delete(w.pods, ref)
	}
	if k := w.asked[ref]; k != nil {
		w.DelAsked(k)
		return fmt.Sprint("del ", q.Handle, error(nil))
	}
	return fmt.Sprint("del ", q.Handle, w.Del(q))
}

// same reports whether two requests are equal, except for the addresses that the pod already has.
func same(x, y Request) bool {
	x.Has, y.Has = nil, nil
	return reflect.DeepEqual(x, y)
}

// restored is the world that an import of this one would be: its record, and what
// the API server has beside it.
func (w *world) restored() (*world, error) {
	a, err := Restore(w.datastore, w.Snapshot())
	if err != nil {
		return nil, err
	}
	out := &world{Allocator: a, now: w.now, pods: maps.Clone(w.pods), had: maps.Clone(w.had)}
	a.Config = w.Config
	for _, p := range w.pools {
		if err := a.StorePool(p.Pool); err != nil {
			return nil, err
		}
	}
	a.Reserve(w.Network(true, true).Blocks.Reserved...)
	for _, name := range slices.Sorted(maps.Keys(w.hosts)) {
		h := w.hosts[name]
		if h.known {
			a.SetNode(name, h.labels)
			if err := a.SetTunnelAddrs(name, h.tunnels[0], h.tunnels[1], h.tunnels[2]); err != nil {
				return nil, err
			}
			if !h.kubernetes {
				if err := a.DeleteNode(name); err != nil {
					return nil, err
				}
			}
		}
		for ref, e := range h.endpoints {
			a.SetEndpoint(Request{Node: name, Pod: ref, Handle: e.handle}, e.addrs...)
		}
	}
	w.gc, out.gc = NewCollector(w.Allocator, 15*time.Minute), NewCollector(a, 15*time.Minute)
	return out, nil
}
