package calico

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	upstream "github.com/projectcalico/calico/libcalico-go/lib/ipam"
	cnet "github.com/projectcalico/calico/libcalico-go/lib/net"
	"github.com/projectcalico/calico/libcalico-go/lib/options"

	"ipamsim/sim"
)

func ipip(s *apiv3.IPPoolSpec)  { s.IPIPMode = apiv3.IPIPModeAlways }
func vxlan(s *apiv3.IPPoolSpec) { s.VXLANMode = apiv3.VXLANModeAlways }

// calicoNode starts the allocator of a node's tunnel addresses.
func (w *allocWorld) calicoNode(node string) *sim.Actor {
	return w.process(tunnelName, node, node, func(ctx context.Context, g *sim.Gate) error {
		return w.in.tunnelAddresses(ctx, g, node)
	})
}

// tunnels are the addresses of the devices, in order of their names.
func (w *allocWorld) tunnels() string {
	var out []string
	for handle, a := range w.devices {
		out = append(out, handle+" "+a.String())
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// holder is the handle to which the record has given an address, or "".
func (w *allocWorld) holder(addr string) string {
	_, h, err := w.direct.IPAM().GetAssignmentAttributes(w.ctx, cnet.MustParseIP(addr))
	if err != nil || h == nil {
		return ""
	}
	return *h
}

// backed reports devices whose addresses are not claimed for them in the record.
func (w *allocWorld) backed() {
	w.t.Helper()
	for handle, a := range w.devices {
		if h := w.holder(a.String()); h != handle {
			w.t.Errorf("%s has %s, which is given to %q", handle, a, h)
		}
	}
}

// change edits a pool.
func (w *allocWorld) change(pool string, f func(*apiv3.IPPoolSpec)) {
	w.t.Helper()
	p, err := w.direct.IPPools().Get(w.ctx, pool, options.GetOptions{})
	w.must(err)
	f(&p.Spec)
	_, err = w.direct.IPPools().Update(w.ctx, p, options.SetOptions{})
	w.must(err)
	w.run.Pump()
}

// onEach runs the same story with each datastore.
func onEach(t *testing.T, r allocRun, f func(t *testing.T, w *allocWorld)) {
	t.Helper()
	server := startEtcd(t)
	for _, ds := range datastores {
		t.Run(ds, func(t *testing.T) {
			r.datastore = ds
			story(t, server, r, func(w *allocWorld) { f(t, w) })
		})
	}
}

// Which devices a node gets addresses for, and from which pool, is in the pools.
func TestTunnelAddresses(t *testing.T) {
	for _, c := range []struct {
		name  string
		pools map[string]func(*apiv3.IPPoolSpec)
		want  string
	}{
		{"no encapsulation", map[string]func(*apiv3.IPPoolSpec){"10.64.75.0/24": func(*apiv3.IPPoolSpec) {}}, ""},
		{"IPIP", map[string]func(*apiv3.IPPoolSpec){"10.64.75.0/24": ipip}, "ipip-tunnel-addr-a 10.64.75.192"},
		{"VXLAN in two families", map[string]func(*apiv3.IPPoolSpec){"10.64.75.0/24": vxlan, "fd00:64:75::/112": vxlan},
			"vxlan-tunnel-addr-a 10.64.75.192, vxlan-v6-tunnel-addr-a fd00:64:75::4980"},
		{"a pool for tunnels alone", map[string]func(*apiv3.IPPoolSpec){
			"10.64.75.0/24": func(s *apiv3.IPPoolSpec) {
				vxlan(s)
				s.AllowedUses = []apiv3.IPPoolAllowedUse{apiv3.IPPoolAllowedUseWorkload}
			},
			"10.64.76.0/24": func(s *apiv3.IPPoolSpec) {
				vxlan(s)
				s.AllowedUses = []apiv3.IPPoolAllowedUse{apiv3.IPPoolAllowedUseTunnel}
			},
		}, "vxlan-tunnel-addr-a 10.64.76.192"},
		{"a pool of other nodes", map[string]func(*apiv3.IPPoolSpec){"10.64.75.0/24": func(s *apiv3.IPPoolSpec) {
			ipip(s)
			s.NodeSelector = "has(gpu)"
		}}, ""},
		{"disabled", map[string]func(*apiv3.IPPoolSpec){"10.64.75.0/24": func(s *apiv3.IPPoolSpec) {
			ipip(s)
			s.Disabled = true
		}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			onEach(t, allocRun{}, func(t *testing.T, w *allocWorld) {
				for cidr, set := range c.pools {
					w.pool("p"+strings.NewReplacer(".", "-", ":", "-", "/", "-").Replace(cidr), cidr, set)
				}
				w.nodes("a")
				w.calicoNode("a")
				time.Sleep(5 * time.Second)
				if got := w.tunnels(); got != c.want {
					t.Errorf("the devices have %q, want %q", got, c.want)
				}
				w.backed()
			})
		})
	}
}

// A change of a pool reaches the devices without a restart: another encapsulation, or none.
func TestTunnelFollowsItsPool(t *testing.T) {
	onEach(t, allocRun{}, func(t *testing.T, w *allocWorld) {
		w.pool("p", "10.64.75.0/24")
		w.nodes("a")
		w.calicoNode("a")
		for _, step := range []struct {
			change func(*apiv3.IPPoolSpec)
			want   string
		}{
			{ipip, "ipip-tunnel-addr-a 10.64.75.192"},
			{func(s *apiv3.IPPoolSpec) { s.IPIPMode = apiv3.IPIPModeNever; vxlan(s) }, "vxlan-tunnel-addr-a 10.64.75.193"},
			{func(s *apiv3.IPPoolSpec) { s.VXLANMode = apiv3.VXLANModeNever }, ""},
		} {
			w.change("p", step.change)
			time.Sleep(5 * time.Second)
			if got := w.tunnels(); got != step.want {
				t.Errorf("the devices have %q, want %q", got, step.want)
			}
			w.backed()
		}
	})
}

// The daemon is killed and started again: the node keeps its address. If an operator has released
// the address in between, the node gets another, because the block hands out the address that has
// been free for longest. The same happens if a pod has taken the address, and the pod keeps it.
func TestTunnelAfterARestart(t *testing.T) {
	onEach(t, allocRun{}, func(t *testing.T, w *allocWorld) {
		w.pool("p", "10.64.75.0/24", ipip)
		w.nodes("a")
		d := w.calicoNode("a")
		for i, step := range []struct {
			meanwhile func()
			want      string
		}{
			{func() {}, "ipip-tunnel-addr-a 10.64.75.192"},
			{func() { w.release("10.64.75.192") }, "ipip-tunnel-addr-a 10.64.75.193"},
			{func() { w.release("10.64.75.193"); w.take("10.64.75.193", "a") }, "ipip-tunnel-addr-a 10.64.75.194"},
		} {
			time.Sleep(5 * time.Second)
			w.Kill(d.ID)
			step.meanwhile()
			d = w.calicoNode("a")
			time.Sleep(5 * time.Second)
			if got := w.tunnels(); got != step.want {
				t.Errorf("restart %d: the devices have %q, want %q", i, got, step.want)
			}
			w.backed()
		}
		if h := w.holder("10.64.75.193"); h != handleOf("thief") {
			t.Errorf("the pod's address is given to %q", h)
		}
	})
}

// take gives a certain address to a pod.
func (w *allocWorld) take(addr, node string) {
	w.t.Helper()
	h := handleOf("thief")
	w.must(w.direct.IPAM().AssignIP(w.ctx, upstream.AssignIPArgs{IP: cnet.MustParseIP(addr), HandleID: &h, Hostname: node,
		Attrs: map[string]string{upstream.AttributeNode: node, upstream.AttributePod: "thief", upstream.AttributeNamespace: "default"}}))
}

func (w *allocWorld) release(addr string) {
	w.t.Helper()
	_, _, err := w.direct.IPAM().ReleaseIPs(w.ctx, upstream.ReleaseOptions{Address: addr})
	w.must(err)
}

// The node is not there yet, or its pool is full: the daemon waits for the first,
// and exits because of the second, as upstream does.
func TestTunnelWaitsForItsNode(t *testing.T) {
	onEach(t, allocRun{}, func(t *testing.T, w *allocWorld) {
		w.pool("p", "10.64.75.0/26", ipip)
		w.nodes("b")
		w.calicoNode("a")
		time.Sleep(time.Minute)
		w.nodes("a")
		time.Sleep(5 * time.Second)
		if got := w.tunnels(); got != "ipip-tunnel-addr-a 10.64.75.0" {
			t.Errorf("the devices have %q", got)
		}
		w.fill("a", 63)
		late := w.calicoNode("b")
		<-late.Done()
		if late.Err() == nil || !strings.Contains(late.Err().Error(), "Goexit") {
			t.Error("the pool is full, and the daemon ended with", late.Err())
		}
	})
}

// The mirror of upstream's struct has the same fields in the same order.
func TestTunnelReconcilerIsUpstreams(t *testing.T) {
	file, _ := runtime.FuncForPC(reflect.ValueOf(tunnelUpdates).Pointer()).FileLine(reflect.ValueOf(tunnelUpdates).Pointer())
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Skip("no source beside the binary:", err)
	}
	var theirs []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		if s, ok := n.(*ast.TypeSpec); ok && s.Name.Name == "reconciler" {
			for _, f := range s.Type.(*ast.StructType).Fields.List {
				theirs = append(theirs, f.Names[0].Name+" "+types.ExprString(f.Type))
			}
		}
		return true
	})
	var ours []string
	m := reflect.TypeFor[tunnelReconciler]()
	for i := range m.NumField() {
		f := m.Field(i)
		name := strings.NewReplacer("clientv3.", "client.", "*config.", "*felixconfig.", "struct {}", "struct{}", "interface {}", "interface{}").Replace(f.Type.String())
		ours = append(ours, f.Name+" "+name)
	}
	if !slices.Equal(theirs, ours) {
		t.Errorf("upstream's fields are\n%q\nand ours\n%q", theirs, ours)
	}
}
