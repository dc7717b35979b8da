package calico

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	"github.com/projectcalico/calico/kube-controllers/pkg/config"
	"github.com/projectcalico/calico/libcalico-go/lib/apiconfig"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	cerrors "github.com/projectcalico/calico/libcalico-go/lib/errors"
	upstream "github.com/projectcalico/calico/libcalico-go/lib/ipam"
	cnet "github.com/projectcalico/calico/libcalico-go/lib/net"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"ipamsim/model"
	"ipamsim/model/reference/calico"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/record"
	"ipamsim/sim/ipam/calico/store"
)

// defaultGrace is how long the collector waits by default.
const defaultGrace = 15 * time.Minute

// The values of histories. The simplest value of each comes first: rapid shrinks towards it.
var (
	someNodes = []string{"a", "b", "c"}
	somePods  = []string{"p0", "p1", "p2", "p3", "p4", "p5"}
	somePools = []calico.Pool{
		{Name: "p0", Prefix: netip.MustParsePrefix("10.0.0.0/28"), BlockBits: 30},
		{Name: "p1", Prefix: netip.MustParsePrefix("10.0.1.0/27"), BlockBits: 29},
		{Name: "p2", Prefix: netip.MustParsePrefix("10.0.0.0/28"), BlockBits: 29},
		{Name: "six", Prefix: netip.MustParsePrefix("fd00::/125"), BlockBits: 127},
		{Name: "six2", Prefix: netip.MustParsePrefix("fd00:0:0:1::8:0/116"), BlockBits: 127},
		{Name: "big", Prefix: netip.MustParsePrefix("10.128.0.0/12")},
		{Name: "six64", Prefix: netip.MustParsePrefix("fd00:1::/64"), BlockBits: 122},
		{Name: "six32", Prefix: netip.MustParsePrefix("2001:db8::/32")},
		{Name: "six126", Prefix: netip.MustParsePrefix("fd00:2::4/126"), BlockBits: 127}, // blocks of one address are not modelled
	}
	someReserved = []string{"10.0.0.0/30", "10.0.0.4/31", "10.0.0.6/31", "10.0.0.9/32", "10.0.1.0/28", "fd00::/126", "fd00::5/128"}
)

// namespaceLabels are the labels of the only namespace.
var namespaceLabels = map[string]string{"team": "0"}

func pick[T any](t *rapid.T, what string, from []T) T { return rapid.SampledFrom(from).Draw(t, what) }

func flip(t *rapid.T, what string) bool { return rapid.Bool().Draw(t, what) }

// rarely is true once in n times.
func rarely(t *rapid.T, what string, n int) bool { return rapid.IntRange(0, n-1).Draw(t, what) == n-1 }

type start struct{ steps []step }

func (s start) GoString() string { return fmt.Sprint(s.steps) }

// allStarts are the pools that a cluster may begin with.
var allStarts = [][]int{{0}, {0, 3}, {1, 0}, {0, 1, 3}, {1, 4}, {5}, {0, 1, 3, 4}, {0, 6}, {6, 3}, {7, 8}}

// drawStart is a cluster that works: nodes and at least one pool.
func drawStart(t *rapid.T, pools [][]int) start {
	var s start
	for _, n := range someNodes[:rapid.IntRange(1, 3).Draw(t, "nodes")] {
		s.steps = append(s.steps, joins(n, pick(t, "rack", []string{"0", "1"})))
	}
	for _, i := range pick(t, "pools", pools) {
		s.steps = append(s.steps, createPool(t, somePools[i]))
	}
	if rarely(t, "settings", 2) {
		s.steps = append(s.steps, drawSettings(t))
	}
	return s
}

func drawStep(t *rapid.T) step {
	draw := pick(t, "step", []func(*rapid.T) step{
		drawAdd, drawAdd, drawAdd, drawAdd, drawDel, drawDel, drawFill, drawPass, drawPass, drawWait, drawVanish, drawVanish, drawCrash,
		drawDeleteNode, drawNode, drawSettings, drawCreatePool, drawEditPool, drawDeletePool, drawReserve, drawRelease, drawMany, drawByHand,
		drawByHand, drawTunnels, drawTunnels, drawGrace,
	})
	return draw(t)
}

func joins(name, rack string) step {
	return step{fmt.Sprintf("node %s joins, or is labelled, rack %s", name, rack), func(p *pair) error {
		labels := map[string]string{"rack": rack}
		nodes := p.kube.CoreV1().Nodes()
		n, err := nodes.Get(p.ctx, name, metav1.GetOptions{})
		if err == nil {
			n.Labels = labels
			_, err = nodes.Update(p.ctx, n, metav1.UpdateOptions{})
		} else {
			_, err = nodes.Create(p.ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
		}
		p.ref.SetNode(name, labels)
		return err
	}}
}

func drawNode(t *rapid.T) step {
	return joins(pick(t, "node", someNodes), pick(t, "rack", []string{"0", "1"}))
}

func drawDeleteNode(t *rapid.T) step {
	name := pick(t, "node", someNodes)
	return step{"node " + name + " is deleted", func(p *pair) error {
		err := p.kube.CoreV1().Nodes().Delete(p.ctx, name, metav1.DeleteOptions{})
		if want := p.ref.DeleteNode(name); (err == nil) != (want == nil) {
			return fmt.Errorf("upstream says %v, the reference %v", err, want)
		}
		return nil
	}}
}

// drawAdd is a CNI ADD of a pod, which is created first if it does not exist.
func drawAdd(t *rapid.T) step {
	a := ask{pod: pick(t, "pod", somePods), node: pick(t, "node", someNodes), report: !rarely(t, "silent", 3)}
	a.v4, a.v6 = true, false
	switch rapid.IntRange(0, 5).Draw(t, "families") {
	case 4:
		a.v6 = true
	case 5:
		a.v4, a.v6 = false, true
	}
	if rarely(t, "asks", 5) {
		a.pools = []int{rapid.IntRange(0, len(somePools)-1).Draw(t, "pool")}
	}
	if rarely(t, "fixed", 6) {
		a.fixed = []netip.Addr{pick(t, "prefix", somePools).Prefix.Addr()}
		for range rapid.IntRange(0, 9).Draw(t, "host") {
			a.fixed[0] = a.fixed[0].Next()
		}
	}
	return step{a.String(), a.do}
}

type ask struct {
	pod, node string
	v4, v6    bool
	pools     []int
	fixed     []netip.Addr
	report    bool
}

func (a ask) String() string {
	s := fmt.Sprintf("ADD %s on %s", a.pod, a.node)
	if a.v4 && a.v6 {
		s += ", of both families"
	} else if a.v6 {
		s += ", IPv6"
	}
	for _, i := range a.pools {
		s += fmt.Sprintf(", from %s", somePools[i].Prefix)
	}
	if a.fixed != nil {
		s += fmt.Sprintf(", %s if it is new", a.fixed[0])
	}
	if !a.report {
		s += ", and kubelet is silent"
	}
	return s
}

func (a ask) do(p *pair) error {
	s, err := p.makePod(a.pod, a.node, a.fixed)
	if err != nil {
		return err
	}
	q := s.request()
	section := map[string]any{"type": "calico-ipam", "assign_ipv4": fmt.Sprint(a.v4), "assign_ipv6": fmt.Sprint(a.v6)}
	for field, v6 := range map[string]bool{"ipv4_pools": false, "ipv6_pools": true} {
		var cidrs []string
		for _, i := range a.pools {
			if x := somePools[i].Prefix; x.Addr().Is6() == v6 {
				cidrs = append(cidrs, x.String())
				q.Pools = append(q.Pools, x)
			}
		}
		if cidrs != nil {
			section[field] = cidrs
		}
	}
	if a.v4 {
		q.V4 = 1
	}
	if a.v6 {
		q.V6 = 1
	}
	call, err := s.call(section)
	if err != nil {
		return err
	}
	r, gotErr := p.real.Add(p.ctx, nil, call)
	var got []netip.Addr
	for _, x := range r.Addrs {
		got = append(got, x.Addr())
	}
	want, wantErr := p.ref.Add(q, s.fixed...)
	if err := p.same(got, gotErr, want, wantErr); err != nil || gotErr != nil {
		return err
	}
	if s.got = got; a.report {
		return p.report(s, got)
	}
	return nil
}

func (s *podState) request() calico.Request {
	q := calico.Request{Node: s.node, Handle: record.NetworkKey + "." + s.container, Pod: s.ref, Has: s.reported, NamespaceLabels: namespaceLabels}
	if len(s.reported) == 0 {
		q.Has = s.got // the plugin's annotation
	}
	if s.finished {
		q.Has = nil
	}
	return q
}

func (s *podState) call(section map[string]any) (ipam.Call, error) {
	text, err := json.Marshal(section)
	return ipam.Call{
		Node: s.node, Pod: s.ref, Container: s.container, Interface: "eth0", Network: record.NetworkKey, Config: json.RawMessage(fmt.Sprintf(netConf, text)),
	}, err
}

// makePod stores a pod that a kubelet is about to start, unless it exists. Every second pod has
// the same sandbox in each of its incarnations.
func (p *pair) makePod(name, node string, fixed []netip.Addr) (*podState, error) {
	s := p.pods[name]
	if s == nil {
		s = &podState{ref: model.PodRef{Namespace: "default", Name: name}}
		p.pods[name] = s
	}
	if s.exists {
		return s, nil
	}
	s.exists, s.finished, s.reported, s.got, s.node, s.fixed = true, false, nil, nil, node, fixed
	s.born++
	p.changed = append(p.changed, s.ref)
	if s.container = "s-" + name; int(name[len(name)-1])%2 == 1 {
		s.container += fmt.Sprintf("-%d", s.born)
	}
	object := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	if fixed != nil {
		object.Annotations = map[string]string{"cni.projectcalico.org/ipAddrs": fmt.Sprintf("[%q]", fixed[0])}
	}
	_, err := p.kube.CoreV1().Pods("default").Create(p.ctx, object, metav1.CreateOptions{})
	return s, err
}

// report writes the addresses of a pod to its status, as the kubelet does.
func (p *pair) report(s *podState, addrs []netip.Addr) error {
	s.reported, p.changed = addrs, append(p.changed, s.ref)
	pods := p.kube.CoreV1().Pods("default")
	object, err := pods.Get(p.ctx, s.ref.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	object.Status = s.status()
	_, err = pods.UpdateStatus(p.ctx, object, metav1.UpdateOptions{})
	return err
}

func drawDel(t *rapid.T) step {
	name, stays := pick(t, "pod", somePods), rarely(t, "stays", 4)
	what := "DEL " + name
	if stays {
		what += ", whose object stays"
	}
	return step{what, func(p *pair) error {
		s := p.pods[name]
		if s == nil {
			return nil
		}
		call, err := s.call(map[string]any{"type": "calico-ipam"})
		if err != nil {
			return err
		}
		gotErr, wantErr := p.real.Del(p.ctx, nil, call), p.ref.Del(s.request())
		if s.got = nil; !stays {
			if err := p.vanish(s); err != nil {
				return err
			}
		}
		return p.same(nil, gotErr, nil, wantErr)
	}}
}

// vanish removes a pod's object by force.
func (p *pair) vanish(s *podState) error {
	if !s.exists {
		return nil
	}
	now := int64(0)
	s.exists, p.changed = false, append(p.changed, s.ref)
	return p.kube.CoreV1().Pods("default").Delete(p.ctx, s.ref.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
}

func drawVanish(t *rapid.T) step {
	name, finishes := pick(t, "pod", somePods), rarely(t, "finishes", 3)
	what := "pod " + name + " is deleted without DEL"
	if finishes {
		what = "pod " + name + " succeeds"
	}
	return step{what, func(p *pair) error {
		s := p.pods[name]
		if s == nil || !s.exists {
			return nil
		}
		if s.finished = finishes; finishes {
			return p.report(s, s.reported)
		}
		return p.vanish(s)
	}}
}

func drawCrash(t *rapid.T) step {
	name := pick(t, "node", someNodes)
	return step{"node " + name + " crashes: its pods are deleted without DEL", func(p *pair) error {
		for _, s := range p.sorted() {
			if s.node == name {
				if err := p.vanish(s); err != nil {
					return err
				}
			}
		}
		return nil
	}}
}

func (p *pair) sorted() (out []*podState) {
	for _, s := range p.pods {
		out = append(out, s)
	}
	slices.SortFunc(out, func(x, y *podState) int { return strings.Compare(x.ref.Name, y.ref.Name) })
	return out
}

// drawFill starts several pods of their own on a node.
func drawFill(t *rapid.T) step {
	n, name, both := rapid.IntRange(2, 9).Draw(t, "pods"), pick(t, "node", someNodes), rarely(t, "both", 4)
	what := fmt.Sprintf("%d new pods on %s", n, name)
	if both {
		what += ", of both families"
	}
	return step{what, func(p *pair) error {
		for range n {
			p.count++
			if err := (ask{pod: fmt.Sprintf("f%d", p.count), node: name, v4: true, v6: both, report: true}).do(p); err != nil {
				return err
			}
			if err := p.compare(); err != nil {
				return err
			}
		}
		return nil
	}}
}

func drawPass(*rapid.T) step {
	return step{"the garbage collector's pass", func(p *pair) error {
		if p.gc == nil || p.gcGrace != p.grace {
			p.gcGrace, p.gc = p.grace, calico.NewCollector(p.ref, p.grace)
		}
		gotErr := p.real.ipamPass(p.ctx, nil, p.passes)
		wantErr := p.gc.Pass(p.world.Now(), p)
		if err := p.same(nil, gotErr, nil, wantErr); err != nil {
			return err
		}
		return p.compareBlocks()
	}}
}

func drawWait(t *rapid.T) step {
	d := pick(t, "time", []time.Duration{16 * time.Minute, 8 * time.Minute, 15 * time.Minute})
	return step{d.String() + " pass", func(*pair) error { time.Sleep(d); return nil }}
}

// drawSettings stores any configuration, also those that calicoctl refuses and kubectl
// does not.
func drawSettings(t *rapid.T) step {
	c := calico.Config{
		Strict: flip(t, "strict"), AutoAllocate: !rarely(t, "no new blocks", 5),
		MaxBlocks: pick(t, "limit", []int{0, 0, 1, 2, 3}),
	}
	return step{fmt.Sprintf("IPAMConfig is %+v", c), func(p *pair) error {
		be, kv := store.Backend(p.c), &bmodel.KVPair{Key: bmodel.IPAMConfigKey{}, Value: &bmodel.IPAMConfig{
			StrictAffinity: c.Strict, AutoAllocateBlocks: c.AutoAllocate, MaxBlocksPerHost: c.MaxBlocks,
		}}
		if old, err := be.Get(p.ctx, kv.Key, ""); err == nil {
			kv.Revision = old.Revision
		}
		_, err := be.Apply(p.ctx, kv)
		p.ref.Config = c
		return err
	}}
}

func createPool(t *rapid.T, c calico.Pool) step {
	if rarely(t, "selects", 4) {
		c.NodeSelector = drawSelector(t, "rack", 2)
	}
	if rarely(t, "selects namespaces", 8) {
		c.NamespaceSelector = drawSelector(t, "team", 1)
		c.Uses = []calico.Use{calico.Workload} // upstream insists
	}
	drawEncapsulation(t, &c)
	if rarely(t, "manual", 8) {
		c.Manual = true
	}
	if c.Uses == nil && rarely(t, "for one use", 8) {
		c.Uses = []calico.Use{pick(t, "use", []calico.Use{calico.Workload, calico.Tunnel})}
	}
	checked := !rarely(t, "unchecked", 4)
	what := fmt.Sprintf("pool %s is created: %s", c.Name, asText(c))
	if !checked {
		what += ", unchecked"
	}
	return step{what, func(p *pair) error {
		pool := realPool(c)
		if checked {
			_, gotErr := p.c.IPPools().Create(p.ctx, pool, options.SetOptions{})
			return p.same(nil, gotErr, nil, p.ref.CreatePool(c))
		}
		for _, x := range somePools {
			if other, exists := p.ref.Pool(x.Name); exists && (x.Name == c.Name || other.Prefix == c.Prefix) {
				return nil // two pools of one prefix are not modelled
			}
		}
		if _, err := p.c.IPPools().UnsafeCreate(p.ctx, pool, options.SetOptions{}); err != nil {
			return err
		}
		return p.ref.StorePool(c)
	}}
}

// drawSelector is a selector with at most so many levels on a label that is "0", "1" or missing.
func drawSelector(t *rapid.T, label string, levels int) string {
	if levels > 0 && rarely(t, "compound", 2) {
		a, b := drawSelector(t, label, levels-1), drawSelector(t, label, levels-1)
		return fmt.Sprintf(pick(t, "operator", []string{"%s && %s", "%s || %s", "!(%s || %s)", "(%s && %s)"}), a, b)
	}
	return strings.ReplaceAll(pick(t, "selector", []string{
		"l == '0'", "l != '0'", "all()", "has(l)", "!has(l)", `l in {"1", '2'}`, "l not in { '1' }", "l=='1'", "!all()",
	}), "l ", label+" ")
}

func drawEncapsulation(t *rapid.T, c *calico.Pool) {
	how := rapid.IntRange(0, 2).Draw(t, "encapsulation")
	c.IPIP, c.VXLAN = how == 1 && c.Prefix.Addr().Is4(), how == 2
}

func asText(c calico.Pool) string {
	s := c.Prefix.String()
	if c.IPIP {
		s += ", IPIP"
	}
	if c.VXLAN {
		s += ", VXLAN"
	}
	if c.NamespaceSelector != "" {
		s += ", namespaces with " + c.NamespaceSelector
	}
	if c.BlockBits > 0 {
		s += fmt.Sprintf(", blocks of /%d", c.BlockBits)
	}
	if c.NodeSelector != "" {
		s += ", nodes with " + c.NodeSelector
	}
	if c.Manual {
		s += ", manual"
	}
	if c.Uses != nil {
		s += ", " + map[calico.Use]string{calico.Workload: "workloads only", calico.Tunnel: "tunnels only"}[c.Uses[0]]
	}
	return s
}

func realPool(c calico.Pool) *apiv3.IPPool {
	pool := apiv3.NewIPPool()
	pool.Name = c.Name
	pool.Spec = apiv3.IPPoolSpec{CIDR: c.Prefix.String(), BlockSize: c.BlockBits, NodeSelector: c.NodeSelector, NamespaceSelector: c.NamespaceSelector, Disabled: c.Disabled}
	encapsulate(&pool.Spec, c)
	if c.Manual {
		m := apiv3.Manual
		pool.Spec.AssignmentMode = &m
	}
	for _, u := range c.Uses {
		pool.Spec.AllowedUses = append(pool.Spec.AllowedUses, map[calico.Use]apiv3.IPPoolAllowedUse{
			calico.Workload: apiv3.IPPoolAllowedUseWorkload, calico.Tunnel: apiv3.IPPoolAllowedUseTunnel,
		}[u])
	}
	return pool
}

func encapsulate(s *apiv3.IPPoolSpec, c calico.Pool) {
	if s.IPIPMode = apiv3.IPIPModeNever; c.IPIP {
		s.IPIPMode = apiv3.IPIPModeCrossSubnet
	}
	if s.VXLANMode = apiv3.VXLANModeNever; c.VXLAN {
		s.VXLANMode = apiv3.VXLANModeAlways
	}
}

func drawCreatePool(t *rapid.T) step { return createPool(t, pick(t, "pool", somePools)) }

func drawEditPool(t *rapid.T) step {
	to, selector := pick(t, "pool", somePools), pick(t, "selector", []string{"", "rack == '0'", "rack == '1'"})
	name, disabled := to.Name, flip(t, "disabled")
	drawEncapsulation(t, &to)
	return step{fmt.Sprintf("pool %s is edited: disabled %v, selector %q, IPIP %v, VXLAN %v", name, disabled, selector, to.IPIP, to.VXLAN), func(p *pair) error {
		c, exists := p.ref.Pool(name)
		if !exists {
			return nil
		}
		pool, err := p.c.IPPools().Get(p.ctx, name, options.GetOptions{})
		if err != nil {
			return err
		}
		c.Disabled, c.NodeSelector, c.IPIP, c.VXLAN = disabled, selector, to.IPIP, to.VXLAN
		pool.Spec.Disabled, pool.Spec.NodeSelector = disabled, selector
		encapsulate(&pool.Spec, c)
		if _, err := p.c.IPPools().Update(p.ctx, pool, options.SetOptions{}); err != nil {
			return err
		}
		return p.ref.StorePool(c)
	}}
}

func drawDeletePool(t *rapid.T) step {
	name, raw := pick(t, "pool", somePools).Name, rarely(t, "raw", 3)
	what := "pool " + name + " is deleted"
	if raw {
		what += ", by kubectl"
	}
	return step{what, func(p *pair) error {
		if raw {
			_, gotErr := p.c.IPPools().UnsafeDelete(p.ctx, name, options.DeleteOptions{})
			return p.same(nil, gotErr, nil, p.ref.RemovePool(name))
		}
		_, gotErr := p.c.IPPools().Delete(p.ctx, name, options.DeleteOptions{})
		return p.same(nil, gotErr, nil, p.ref.DeletePool(name))
	}}
}

func drawReserve(t *rapid.T) step {
	cidrs := rapid.SliceOfNDistinct(rapid.SampledFrom(someReserved), 0, 4, rapid.ID).Draw(t, "reserved")
	return step{fmt.Sprintf("IPReservation of %v", cidrs), func(p *pair) error {
		var all []netip.Prefix
		for _, c := range cidrs {
			all = append(all, netip.MustParsePrefix(c))
		}
		p.ref.Reserve(all...)
		r := apiv3.NewIPReservation()
		r.Name, r.Spec.ReservedCIDRs = "r", cidrs
		if old, err := p.c.IPReservations().Get(p.ctx, "r", options.GetOptions{}); err == nil {
			r.ObjectMeta = old.ObjectMeta
			_, err = p.c.IPReservations().Update(p.ctx, r, options.SetOptions{})
			return err
		}
		_, err := p.c.IPReservations().Create(p.ctx, r, options.SetOptions{})
		return err
	}}
}

// drawRelease is calicoctl ipam release of addresses that are taken, or were.
func drawRelease(t *rapid.T) step {
	places := rapid.SliceOfN(rapid.IntRange(0, 12), 1, 4).Draw(t, "which")
	return step{fmt.Sprintf("addresses %v of those taken are released", places), func(p *pair) error {
		claims := p.ref.Snapshot().Claims
		var want []calico.Release
		var got []upstream.ReleaseOptions
		for _, i := range places {
			if i < len(claims) {
				want = append(want, calico.Release{Addr: claims[i].Addr})
				got = append(got, upstream.ReleaseOptions{Address: claims[i].Addr.String()})
			}
		}
		_, _, gotErr := p.c.IPAM().ReleaseIPs(p.ctx, got...)
		_, wantErr := p.ref.Release(want...)
		return p.same(nil, gotErr, nil, wantErr)
	}}
}

// drawTunnels is one round of calico-node's allocator of tunnel addresses.
func drawTunnels(t *rapid.T) step {
	name := pick(t, "node", someNodes)
	return step{"calico-node allocates tunnel addresses of " + name, func(p *pair) error {
		got, want := p.tunnels(name), p.ref.EnsureTunnels(name)
		if got != (want == nil) {
			return fmt.Errorf("upstream's end was good: %v, the reference's error %v", got, want)
		}
		n, _ := p.c.Nodes().Get(p.ctx, name, options.GetOptions{})
		for i, a := range []netip.Addr{at(p.ref.TunnelAddrs(name))[0], at(p.ref.TunnelAddrs(name))[1], at(p.ref.TunnelAddrs(name))[2]} {
			if d := devices(n)[i]; a.IsValid() && a.String() != d.addr || !a.IsValid() && d.addr != "" {
				return fmt.Errorf("the node has %q as its %s, the reference %v", d.addr, d.kind, a)
			}
		}
		return nil
	}}
}

func at(ipip, vxlan, vxlan6 netip.Addr) [3]netip.Addr { return [3]netip.Addr{ipip, vxlan, vxlan6} }

// tunnels runs upstream's loop for one round. It reports whether the process lived
// to see its end.
func (p *pair) tunnels(node string) (lived bool) {
	r := tunnelReconciler{nodename: node, cfg: &apiconfig.CalicoAPIConfig{}, client: p.c, ch: make(chan struct{}), data: map[string]any{}, felixEnvConfig: felixDefaults()}
	ctx, stop := context.WithCancel(p.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended) // also if it exits
		lived = errors.Is(reconcileTunnels(ctx, r), context.Canceled)
	}()
	r.ch <- struct{}{}
	stop()
	<-ended
	return lived
}

// drawGrace changes the collector's grace period. If the value differs, the next pass belongs to a
// new controller.
func drawGrace(t *rapid.T) step {
	d := pick(t, "grace", []time.Duration{5 * time.Minute, 0, calico.Never, defaultGrace})
	return step{fmt.Sprintf("leakGracePeriod is %v (below 0: not said)", d), func(p *pair) error {
		c := p.c.KubeControllersConfiguration()
		k, err := c.Get(p.ctx, "default", options.GetOptions{})
		if none := (cerrors.ErrorResourceDoesNotExist{}); errors.As(err, &none) {
			k, err = c.Create(p.ctx, config.NewDefaultKubeControllersConfig(), options.SetOptions{})
		}
		if err != nil {
			return err
		}
		k.Spec.Controllers.Node = &apiv3.NodeControllerConfig{LeakGracePeriod: &metav1.Duration{Duration: d}}
		if d == calico.Never {
			k.Spec.Controllers.Node = nil
		}
		p.grace = d
		_, err = c.Update(p.ctx, k, options.SetOptions{})
		return err
	}}
}

// drawMany requests several addresses in one call, which no CNI plugin does.
func drawMany(t *rapid.T) step {
	q := calico.Request{
		Node: pick(t, "node", someNodes), Handle: pick(t, "handle", []string{"many", "more"}), MaxBlocks: pick(t, "limit", []int{0, 1, 2}),
		V4: rapid.IntRange(1, 6).Draw(t, "v4"), V6: rapid.IntRange(0, 3).Draw(t, "v6"),
	}
	return step{fmt.Sprintf("%s gets %d IPv4 and %d IPv6 addresses for %s, of at most %d blocks (0: any)", q.Node, q.V4, q.V6, q.Handle, q.MaxBlocks), func(p *pair) error {
		v4, v6, gotErr := p.c.IPAM().AutoAssign(context.WithoutCancel(p.ctx), upstream.AutoAssignArgs{
			Num4: q.V4, Num6: q.V6, HandleID: &q.Handle, Hostname: q.Node, IntendedUse: apiv3.IPPoolAllowedUseWorkload, MaxBlocksPerHost: q.MaxBlocks,
			Attrs: map[string]string{upstream.AttributeNode: q.Node},
		})
		var got []netip.Addr
		for _, a := range []*upstream.IPAMAssignments{v4, v6} {
			for i := 0; a != nil && i < len(a.IPs); i++ {
				x, _ := netip.AddrFromSlice(a.IPs[i].IP)
				got = append(got, x.Unmap())
			}
		}
		want4, want6, wantErr := p.ref.AutoAssign(q)
		return p.same(got, gotErr, append(want4, want6...), wantErr)
	}}
}

// drawByHand releases by handle, or deletes a block or an affinity, as an operator may do.
func drawByHand(t *rapid.T) step {
	switch i := rapid.IntRange(0, 4).Draw(t, "which"); rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		handle := pick(t, "handle", []string{"many", "more"})
		return step{"what " + handle + " has is released", func(p *pair) error {
			return p.same(nil, p.c.IPAM().ReleaseByHandle(p.ctx, handle), nil, p.ref.ReleaseByHandle(handle))
		}}
	case 1:
		return step{fmt.Sprintf("block %d is deleted by hand", i), func(p *pair) error {
			if all := p.ref.Snapshot().Pools; i < len(all) {
				_ = p.ref.DeleteBlock(all[i].Range)
				return p.erase(bmodel.BlockKey{CIDR: network(all[i].Range)})
			}
			return nil
		}}
	default:
		return step{fmt.Sprintf("affinity %d is deleted by hand", i), func(p *pair) error {
			if all := p.ref.Snapshot().Affinities; i < len(all) {
				_ = p.ref.DeleteAffinity(all[i].Node, all[i].Block)
				return p.erase(bmodel.BlockAffinityKey{CIDR: network(all[i].Block), Host: all[i].Node, AffinityType: "host"})
			}
			return nil
		}}
	}
}

// erase deletes an object of the allocator's.
func (p *pair) erase(k bmodel.Key) error {
	be := store.Backend(p.c)
	kv, err := be.Get(p.ctx, k, "")
	if err == nil {
		_, err = be.DeleteKVP(p.ctx, kv)
	}
	return err
}

func network(p netip.Prefix) cnet.IPNet { return cnet.MustParseCIDR(p.String()) }
