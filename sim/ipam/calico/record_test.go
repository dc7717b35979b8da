package calico

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	calicoipam "github.com/projectcalico/calico/libcalico-go/lib/ipam"
	cnet "github.com/projectcalico/calico/libcalico-go/lib/net"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"pgregory.net/rapid"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/etcd"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/record"
	"ipamsim/sim/ipam/calico/store"
	"ipamsim/sim/strategy"
)

// books is a run with Calico's real client, which passes no gate, and the record of its writes.
type books struct {
	t    fataler
	env  ipam.Env
	c    clientv3.Interface
	kube kubernetes.Interface
	inst *instance

	world *sim.World
	gate  *sim.Gate // of the story itself
}

type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

var datastores = []string{store.Etcd, store.Kubernetes}

// open runs story inside a bubble over an empty datastore.
func open(t fataler, s *etcd.Server, datastore string, story func(*books)) {
	t.Helper()
	run, err := s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer run.End()
	st := strategy.NewSerial()
	st.Begin(0)
	_, err = sim.Run(context.Background(), sim.Options{Strategy: st}, func(w *sim.World) error {
		api, err := ipam.Serve(w, run, New())
		if err != nil {
			return err
		}
		b := &books{t: t, env: ipam.Env{API: api, Store: run, Datastore: datastore}, world: w}
		if b.inst, err = instanceIn(b.env); err != nil {
			return err
		}
		if b.c, err = b.inst.ds.Client(nil, 0); err != nil {
			return err
		}
		if b.kube, err = store.KubeClient(b.env.API, nil); err != nil {
			return err
		}
		w.Spawn(sim.Process{ID: "story", Run: func(_ context.Context, g *sim.Gate) error {
			defer w.Finish()
			b.gate = g
			story(b)
			return nil
		}})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (b *books) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *books) pool(name, cidr string, size int, change ...func(*apiv3.IPPoolSpec)) {
	b.t.Helper()
	p := apiv3.NewIPPool()
	p.Name, p.Spec.CIDR, p.Spec.BlockSize = name, cidr, size
	for _, f := range change {
		f(&p.Spec)
	}
	_, err := b.c.IPPools().Create(context.Background(), p, options.SetOptions{})
	b.must(err)
}

func (b *books) node(name string, labels map[string]string) {
	b.t.Helper()
	if b.env.Datastore == store.Kubernetes {
		_, err := b.kube.CoreV1().Nodes().Create(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
		b.must(err)
		return
	}
	n := libapiv3.NewNode()
	n.Name, n.Labels = name, labels
	_, err := b.c.Nodes().Create(context.Background(), n, options.SetOptions{})
	b.must(err)
}

// add makes the calls of the CNI plugin's ADD.
func (b *books) add(node, pod string) (netip.Addr, error) {
	handle := "k8s-pod-network.c-" + pod
	v4, _, err := b.c.IPAM().AutoAssign(context.Background(), calicoipam.AutoAssignArgs{
		Num4: 1, HandleID: &handle, Hostname: node, IntendedUse: apiv3.IPPoolAllowedUseWorkload,
		Attrs: map[string]string{"node": node, "pod": pod, "namespace": "default"},
	})
	if err != nil || len(v4.IPs) == 0 {
		return netip.Addr{}, err
	}
	a, _ := netip.AddrFromSlice(v4.IPs[0].IP)
	return a.Unmap(), nil
}

func (b *books) observe() model.Snapshot {
	b.t.Helper()
	b.env.Store.Pump()
	s, err := b.inst.Observe(context.Background())
	b.must(err)
	return s
}

// text is a snapshot line by line.
func text(s model.Snapshot) string {
	var out strings.Builder
	for _, p := range s.Pools {
		fmt.Fprintf(&out, "block %+v\n", p)
	}
	for _, c := range s.Claims {
		fmt.Fprintf(&out, "claim %+v\n", c)
	}
	for _, a := range s.Affinities {
		fmt.Fprintf(&out, "affinity %+v\n", a)
	}
	for _, h := range s.Handles {
		fmt.Fprintf(&out, "handle %+v\n", h)
	}
	for _, n := range s.Networks {
		fmt.Fprintf(&out, "network %s %v %+v\n", n.Key, n.Ranges, *n.Blocks)
	}
	return out.String()
}

// The staging cluster of seeds/000: two nodes own two blocks each, so the third borrows, and the
// record names the block of its address.
func TestRecordOfBorrowing(t *testing.T) {
	s := startEtcd(t)
	for _, ds := range datastores {
		t.Run(ds, func(t *testing.T) {
			open(t, s, ds, func(b *books) {
				b.pool("default-ipv4-ippool", "10.64.75.0/24", 26)
				for _, n := range []string{"kubestage1001", "kubestage1002", "kubestage1003"} {
					b.node(n, nil)
				}
				for i := range 65 {
					for _, n := range []string{"1001", "1002"} {
						_, err := b.add("kubestage"+n, fmt.Sprintf("p%s-%d", n, i))
						b.must(err)
					}
				}
				addr, err := b.add("kubestage1003", "web-3")
				b.must(err)
				got := b.observe()
				if len(got.Pools) != 4 || len(got.Claims) != 131 || len(got.Affinities) != 4 || len(got.Handles) != 131 {
					t.Fatalf("%d blocks, %d claims, %d affinities, %d handles", len(got.Pools), len(got.Claims), len(got.Affinities), len(got.Handles))
				}
				owners := map[string]int{}
				for i, p := range got.Pools {
					owners[p.Node]++
					if a := got.Affinities[i]; a.Block != p.Range || a.Node != p.Node || a.State != model.Confirmed {
						t.Errorf("%+v and %+v", p, a)
					}
				}
				if owners["kubestage1001"] != 2 || owners["kubestage1002"] != 2 {
					t.Errorf("blocks: %v", owners)
				}
				for _, c := range got.Claims {
					if c.Addr == addr {
						t.Logf("kubestage1003 borrowed %s from block %s", addr, c.Pool)
						want := model.Claim{Pool: c.Pool, Addr: addr, Pod: model.PodRef{Namespace: "default", Name: "web-3"}, Container: "c-web-3",
							Handle: "k8s-pod-network.c-web-3", Node: "kubestage1003", Revision: c.Revision}
						if c != want || c.Revision == 0 {
							t.Errorf("%+v", c)
						}
					}
				}
				n := got.Networks[0]
				if p := n.Blocks.Pools[0]; p.BlockBits != 26 || !p.Workloads || !p.Tunnels || len(p.Nodes) != 3 || !n.Blocks.AutoAllocate || n.Blocks.MaxBlocks != 20 || !n.Owns(&got.Pools[0]) {
					t.Errorf("%+v", n.Blocks)
				}
			})
		})
	}
}

// Tunnel addresses belong to the node; a claim that no CNI call made names no container.
func TestRecordOfTunnels(t *testing.T) {
	s := startEtcd(t)
	for _, ds := range datastores {
		t.Run(ds, func(t *testing.T) {
			open(t, s, ds, func(b *books) {
				b.pool("tunnels", "192.168.0.0/24", 26, func(s *apiv3.IPPoolSpec) { s.IPIPMode = apiv3.IPIPModeCrossSubnet })
				b.node("a.example", nil)
				handle := "ipip-tunnel-addr-a.example"
				_, _, err := b.c.IPAM().AutoAssign(context.Background(), calicoipam.AutoAssignArgs{
					Num4: 1, HandleID: &handle, Hostname: "a.example", IntendedUse: apiv3.IPPoolAllowedUseTunnel,
					Attrs: map[string]string{"node": "a.example", "type": "ipipTunnelAddress"},
				})
				b.must(err)
				b.must(b.c.IPAM().AssignIP(context.Background(), calicoipam.AssignIPArgs{IP: cnet.IP{IP: net.ParseIP("192.168.0.200")}, Hostname: "a.example"}))
				c := b.observe().Claims
				if len(c) != 2 || !c[0].Tunnel || c[0].Node != "a.example" || c[0].Container != "" || c[0].Handle != handle {
					t.Errorf("%+v", c)
				}
				if c[1].Tunnel || c[1].Addr.String() != "192.168.0.200" || c[1].Handle != "" || c[1].Pod.Name != "" {
					t.Errorf("%+v", c)
				}
			})
		})
	}
}

// The policy follows the present pools, reservations, settings and nodes; a deleted pool stays a
// range.
func TestRecordOfPolicy(t *testing.T) {
	s := startEtcd(t)
	for _, ds := range datastores {
		t.Run(ds, func(t *testing.T) {
			open(t, s, ds, func(b *books) {
				if p := b.observe().Networks[0]; p.Key != record.NetworkKey || len(p.Ranges) != 0 || !p.Blocks.AutoAllocate || !p.Blocks.V4 {
					t.Errorf("%+v", p.Blocks)
				}
				b.node("b", map[string]string{"rack": "2"})
				b.node("a", map[string]string{"rack": "1"})
				manual := apiv3.Manual
				b.pool("z", "10.2.0.0/16", 28, func(s *apiv3.IPPoolSpec) { s.NodeSelector = "rack == '1'"; s.DisableBGPExport = true })
				b.pool("m", "10.3.0.0/16", 26, func(s *apiv3.IPPoolSpec) { s.AssignmentMode = &manual; s.VXLANMode = apiv3.VXLANModeAlways })
				b.pool("s", "10.1.0.0/16", 26, func(s *apiv3.IPPoolSpec) {
					s.NamespaceSelector, s.AllowedUses = "team == 'x'", []apiv3.IPPoolAllowedUse{apiv3.IPPoolAllowedUseWorkload}
				})
				b.pool("six", "fd00:10::/112", 122)
				r := apiv3.NewIPReservation()
				r.Name, r.Spec.ReservedCIDRs = "r", []string{"10.2.0.9", "10.1.0.0/30", "10.2.0.9"}
				_, err := b.c.IPReservations().Create(context.Background(), r, options.SetOptions{})
				b.must(err)
				b.must(b.c.IPAM().SetIPAMConfig(context.Background(), calicoipam.IPAMConfig{StrictAffinity: true, AutoAllocateBlocks: true, MaxBlocksPerHost: 2}))
				p := b.observe().Networks[0].Blocks
				want := `{Name:s Prefix:10.1.0.0/16 BlockBits:26 Disabled:false Workloads:true Tunnels:false Manual:false Selective:true Nodes:[a b] NoExport:false IPIP:Never VXLAN:Never LoadBalancers:false}
{Name:z Prefix:10.2.0.0/16 BlockBits:28 Disabled:false Workloads:true Tunnels:true Manual:false Selective:false Nodes:[a] NoExport:true IPIP:Never VXLAN:Never LoadBalancers:false}
{Name:m Prefix:10.3.0.0/16 BlockBits:26 Disabled:false Workloads:true Tunnels:true Manual:true Selective:false Nodes:[a b] NoExport:false IPIP:Never VXLAN:Always LoadBalancers:false}
{Name:six Prefix:fd00:10::/112 BlockBits:122 Disabled:false Workloads:true Tunnels:true Manual:false Selective:false Nodes:[a b] NoExport:false IPIP:Never VXLAN:Never LoadBalancers:false}
[10.1.0.0/30 10.2.0.9/32] true true 2`
				got := ""
				for _, x := range p.Pools {
					got += fmt.Sprintf("%+v\n", x)
				}
				if got += fmt.Sprint(p.Reserved, p.Strict, p.AutoAllocate, p.MaxBlocks); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
				_, err = b.c.IPPools().Delete(context.Background(), "m", options.DeleteOptions{})
				b.must(err)
				if n := b.observe().Networks[0]; len(n.Blocks.Pools) != 3 || len(n.Ranges) != 4 || n.Ranges[2].Start.String() != "10.3.0.0" || n.Ranges[2].End.String() != "10.3.255.255" {
					t.Errorf("%+v", n)
				}
			})
		})
	}
}

// Garbage that an operator writes to etcd causes an error, not a panic, until it is fixed.
func TestRecordOfGarbage(t *testing.T) {
	s := startEtcd(t)
	open(t, s, store.Etcd, func(b *books) {
		put := func(k, v string) {
			_, err := b.env.Store.Client().Put(context.Background(), k, v)
			b.must(err)
			b.env.Store.Pump()
		}
		block := record.IpamRoot + "assignment/ipv4/block/10.0.0.0-30"
		for _, c := range []struct{ key, value string }{
			{block, `{`}, {block, `[]`}, {block, ``}, {block, `null`}, {block, `{"cidr":"10.0.0.0/29","allocations":[]}`},
			{block, `{"cidr":"10.0.0.0/30","allocations":[0,0,0,0,0],"attributes":[{}]}`}, {block, `{"cidr":"nonsense"}`},
			{record.IpamRoot + "host/a/ipv4/block/10.0.0.0-30", `{"state":"maybe"}`}, {record.IpamRoot + "host/a/ipv4/block/10.0.0.0-30", `7`},
			{record.IpamRoot + "handle/h", `{"block":{"10.0.0.0":1}}`}, {record.ConfigPath, `no`},
			{"/calico/resources/v3/projectcalico.org/ippools/p", `{"spec":{"cidr":"10.0.0.0/99","blockSize":26}}`},
			{"/calico/resources/v3/projectcalico.org/ippools/p", `{"spec":{}}`},
			{"/calico/resources/v3/projectcalico.org/nodes/n", `"`},
		} {
			put(c.key, c.value)
			if got, err := b.inst.Observe(context.Background()); !errors.Is(err, record.ErrMalformed) || !strings.Contains(err.Error(), c.key) || len(got.Networks) != 0 {
				t.Errorf("%s = %s: %v", c.key, c.value, err)
			}
			_, err := b.env.Store.Client().Delete(context.Background(), c.key)
			b.must(err)
			b.observe()
		}
		for _, ignored := range []string{"assignment/ipv4/block/x", "assignment/ipv4", "host/a", "handle/a/b", "future/x"} {
			put(record.IpamRoot+ignored, "?")
		}
		put(record.Root+"v1/Ready", "true")
		put(record.IpamRoot+"virtual/load-balancer/ipv4/block/10.9.0.0-26", `{}`)
		put(record.IpamRoot+"host/old/ipv4/block/10.9.0.64-26", ``)
		put(block, `{"cidr":"10.0.0.0/30","affinity":"virtual:load-balancer","allocations":[null,7,0],"attributes":[{"handle_id":"h"}]}`)
		if got, want := text(b.observe()), `block {Name:10.0.0.0-30 Network: Range:10.0.0.0/30 Node:virtual:load-balancer Strict:false}
claim {Pool:10.0.0.0-30 Network: Addr:10.0.0.1 Pod:/ Container: Interface: Revision:38 Handle: Node: Tunnel:false}
claim {Pool:10.0.0.0-30 Network: Addr:10.0.0.2 Pod:/ Container: Interface: Revision:38 Handle:h Node: Tunnel:false}
affinity {Block:10.9.0.0/26 Node:virtual:load-balancer State:confirmed}
affinity {Block:10.9.0.64/26 Node:old State:confirmed}
network `; !strings.HasPrefix(got, want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// TestRecordOfMachine: an address of a virtual machine is the machine's, for which no container
// is named; it stays when no pod runs it.
//
// Source: cni-plugin/pkg/ipamplugin, cmdAdd and cmdDel (v3.32).
func TestRecordOfMachine(t *testing.T) {
	s := startEtcd(t)
	open(t, s, store.Etcd, func(b *books) {
		_, err := b.env.Store.Client().Put(context.Background(), record.IpamRoot+"assignment/ipv4/block/10.0.0.0-30",
			`{"cidr":"10.0.0.0/30","allocations":[0,1,null,null],"attributes":[`+
				`{"handle_id":"k8s-pod-network.vmi.shop.vm.1","secondary":{"pod":"virt-launcher-vm.1-x","namespace":"shop","vmi-name":"vm.1","node":"a"}},`+
				`{"handle_id":"k8s-pod-network.vmi.shop.vm2"}]}`)
		b.must(err)
		b.env.Store.Pump()
		runs, stopped := b.observe().Claims[0], b.observe().Claims[1]
		if runs.Machine != "shop/vm.1" || runs.Container != "" || runs.Pod.Name != "virt-launcher-vm.1-x" {
			t.Errorf("it runs: %+v", runs)
		}
		if stopped.Machine != "shop/vm2" || stopped.Container != "" || stopped.Pod != (model.PodRef{}) {
			t.Errorf("it is stopped: %+v", stopped)
		}
	})
}

// Looking again while nothing changed costs nothing.
func TestRecordIsCached(t *testing.T) {
	s := startEtcd(t)
	open(t, s, store.Etcd, func(b *books) {
		b.pool("p", "10.0.0.0/16", 26)
		b.node("a", nil)
		for i := range 50 {
			_, err := b.add("a", fmt.Sprint("p-", i))
			b.must(err)
		}
		b.observe()
		if n := testing.AllocsPerRun(100, func() { b.observe() }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// The law: after any history of actions of Calico and its operators, the record that followed
// every change equals the record read from the datastore. A returned snapshot is never changed.
func TestRecordFollows(t *testing.T) {
	s := startEtcd(t)
	for _, ds := range datastores {
		t.Run(ds, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				open(rt, s, ds, func(b *books) {
					b.pool("p0", "10.0.0.0/27", 29)
					for _, n := range []string{"a", "b"} {
						b.node(n, nil)
					}
					for range rapid.IntRange(1, 12).Draw(rt, "steps") {
						before := b.observe()
						was := text(before)
						b.anything(rt)
						if text(before) != was {
							rt.Fatal("a snapshot was changed after it was handed out")
						}
						if rapid.Bool().Draw(rt, "look") {
							b.compare()
						}
					}
					b.compare()
				})
			})
		})
	}
}

func (b *books) compare() {
	got := b.observe()
	r, err := record.New(b.env)
	b.must(err)
	want, err := r.Observe()
	b.must(err)
	want.Networks[0].Ranges = got.Networks[0].Ranges // only the record that followed the changes knows deleted pools
	if g, w := text(got), text(want); g != w {
		b.t.Fatalf("followed\n%s\nread afresh\n%s", g, w)
	}
}

// anything makes one change in the datastore. Upstream may refuse it.
func (b *books) anything(rt *rapid.T) {
	ctx := context.Background()
	node := rapid.SampledFrom([]string{"a", "b", "gone"}).Draw(rt, "node")
	pod := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(rt, "pod")
	pool := rapid.SampledFrom([]string{"p0", "p1"}).Draw(rt, "pool")
	switch rapid.IntRange(0, 8).Draw(rt, "what") {
	case 0, 1, 2:
		for range rapid.IntRange(1, 9).Draw(rt, "pods") {
			_, _ = b.add(node, pod)
		}
	case 3:
		_ = b.c.IPAM().ReleaseByHandle(ctx, "k8s-pod-network.c-"+pod)
	case 4:
		_ = b.c.IPAM().ReleaseHostAffinities(ctx, calicoipam.AffinityConfig{AffinityType: calicoipam.AffinityTypeHost, Host: node}, false)
	case 5:
		_ = b.c.IPAM().SetIPAMConfig(ctx, calicoipam.IPAMConfig{AutoAllocateBlocks: true, StrictAffinity: rapid.Bool().Draw(rt, "strict")})
	case 6:
		_, _ = b.c.IPPools().Delete(ctx, pool, options.DeleteOptions{})
	case 7:
		p := apiv3.NewIPPool()
		p.Name, p.Spec.CIDR, p.Spec.BlockSize = pool, map[string]string{"p0": "10.0.0.0/27", "p1": "10.1.0.0/28"}[pool], 29
		_, _ = b.c.IPPools().Create(ctx, p, options.SetOptions{})
	case 8:
		b.label(node, map[string]string{"pod": pod})
	}
}

// label changes the labels of a node that may not exist.
func (b *books) label(node string, labels map[string]string) {
	b.t.Helper()
	ctx := context.Background()
	if b.env.Datastore == store.Kubernetes {
		if n, err := b.kube.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{}); err == nil {
			n.Labels = labels
			_, err := b.kube.CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{})
			b.must(err)
		}
		return
	}
	if n, err := b.c.Nodes().Get(ctx, node, options.GetOptions{}); err == nil {
		n.Labels = labels
		_, err := b.c.Nodes().Update(ctx, n, options.SetOptions{})
		b.must(err)
	}
}
