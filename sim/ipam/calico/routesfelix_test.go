package calico

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	"github.com/projectcalico/calico/felix/proto"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	cmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	"google.golang.org/protobuf/encoding/protojson"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"ipamsim/model"
	"ipamsim/model/route"
	"ipamsim/model/route/fib"
	"ipamsim/sim/longtest"
)

// felixModule is Felix's resolver as a program in a separate module: see its main.go.
const felixModule = "testdata/felix"

// felix returns the decisions of a node's real resolver.
type felix struct {
	in  *json.Encoder
	out *bufio.Scanner
}

// startFelix builds the program, which takes minutes the first time, and runs it until the
// test ends.
func startFelix(t *testing.T) *felix {
	t.Helper()
	program := filepath.Join(t.TempDir(), "felix")
	build := exec.Command("go", "build", "-mod=readonly", "-o", program, ".")
	build.Dir = felixModule
	build.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(program)
	run.Stderr = os.Stderr
	in, err := run.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := run.Wait(); err != nil {
			t.Error(err)
		}
	})
	f := &felix{json.NewEncoder(in), bufio.NewScanner(out)}
	f.out.Buffer(nil, 1<<20)
	return f
}

// question is the input of a node's Felix, as the program reads it.
type question struct {
	Node      string
	Nodes     []*libapiv3.Node
	Pools     []*apiv3.IPPool
	Blocks    []*cmodel.AllocationBlock
	Workloads map[string]string // devices of the node's own, by address
}

// resolved are the decisions of the real resolver of one node for the facts, which it receives as
// from the syncer.
func (x *felix) resolved(t interface{ Fatal(...any) }, node string, f route.Facts) (out []*proto.RouteUpdate) {
	q := question{Node: node, Workloads: map[string]string{}}
	for _, n := range f.Nodes {
		stored := libapiv3.NewNode()
		stored.ObjectMeta = metav1.ObjectMeta{Name: n.Name}
		stored.Spec.BGP = &libapiv3.NodeBGPSpec{IPv4Address: n.Addr.String()}
		if n.Tunnel.IsValid() {
			stored.Spec.IPv4VXLANTunnelAddr = n.Tunnel.String()
		}
		q.Nodes = append(q.Nodes, stored)
	}
	for _, p := range f.Pools {
		q.Pools = append(q.Pools, storedPool(p))
	}
	for _, b := range f.Blocks {
		q.Blocks = append(q.Blocks, storedBlock(b, f.Local))
	}
	for _, l := range f.Local {
		if l.Node == node { // Felix receives the workloads of its own node
			q.Workloads[l.Addr.String()] = l.Dev
		}
	}
	if err := x.in.Encode(q); err != nil {
		t.Fatal(err)
	}
	if !x.out.Scan() {
		t.Fatal("felix ended: ", x.out.Err())
	}
	var answer []json.RawMessage
	if err := json.Unmarshal(x.out.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	for _, b := range answer {
		u := &proto.RouteUpdate{}
		if err := protojson.Unmarshal(b, u); err != nil {
			t.Fatal(err)
		}
		out = append(out, u)
	}
	return out
}

// storedBlock is a block as Calico stores it, with an allocation for every pod.
func storedBlock(b route.Block, pods []route.Local) *cmodel.AllocationBlock {
	out := &cmodel.AllocationBlock{CIDR: calicoNet(b.Prefix), Allocations: make([]*int, 1<<(32-b.Prefix.Bits()))}
	if b.Node != "" {
		affinity := "host:" + b.Node
		out.Affinity = &affinity
	}
	for _, l := range pods {
		if b.Prefix.Contains(l.Addr) {
			i, first := len(out.Attributes), b.Prefix.Addr().As4()
			last := l.Addr.As4()
			out.Allocations[last[3]-first[3]] = &i
			out.Attributes = append(out.Attributes, cmodel.AllocationAttribute{AttrSecondary: map[string]string{cmodel.IPAMBlockAttributeNode: l.Node}})
		}
	}
	return out
}

// programmed is the route that Felix's route manager programs for one decision of the resolver, ""
// for none. The manager needs a kernel, so this part is reimplemented: a blackhole for a block of
// the node itself; for a remote destination the node's address on one subnet, otherwise the tunnel
// of the node that has it.
//
// Source: felix/dataplane/linux/route_mgr.go (OnUpdate, routeIsLocalBlock,
// noEncapRoute), vxlan_mgr.go.
func programmed(u *proto.RouteUpdate, self string, f route.Facts) string {
	is := func(t proto.RouteType) bool { return u.Types&t == t }
	dst := strings.TrimSuffix(u.Dst, "/32")
	switch {
	case u.IpPoolType != proto.IPPoolType_VXLAN, u.DstNodeName == self && !is(proto.RouteType_LOCAL_WORKLOAD):
		return ""
	case u.DstNodeName == self:
		if u.LocalWorkload || dst != u.Dst {
			return ""
		}
		return "blackhole " + dst + " proto 80"
	case !is(proto.RouteType_REMOTE_WORKLOAD):
		return ""
	case u.SameSubnet:
		return fmt.Sprintf("%s via %s dev eth0 proto 80 onlink", dst, u.DstNodeIp)
	}
	i := slices.IndexFunc(f.Nodes, func(n route.Node) bool { return n.Name == u.DstNodeName })
	if i < 0 || !f.Nodes[i].Tunnel.IsValid() {
		return ""
	}
	return fmt.Sprintf("%s via %s dev vxlan.calico onlink", dst, f.Nodes[i].Tunnel)
}

// The VXLAN routes of the model equal those of Felix's own resolver: for blocks with and without an
// owner, borrowed addresses, deleted owners, nodes with and without a tunnel, on one subnet and
// across.
func TestRoutesAgreeWithFelix(t *testing.T) {
	longtest.Skip(t)
	real := startFelix(t)
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		f := route.Facts{Pools: drawnPools(t)}
		names := []string{"a", "b", "e", "gone"}
		for i, n := range names[:3] {
			f.Nodes = append(f.Nodes, route.Node{
				Name: n, Up: true, BIRD: true, Felix: true,
				Addr: netip.MustParsePrefix(fmt.Sprintf("192.168.%d.%d/24", rapid.IntRange(0, 1).Draw(t, "subnet"), 11+i)),
			})
			if rapid.IntRange(0, 4).Draw(t, "no tunnel") > 0 {
				f.Nodes[i].Tunnel = netip.MustParseAddr(fmt.Sprintf("10.19.0.%d", 1+i))
			}
		}
		record := model.Snapshot{}
		for i := range rapid.IntRange(1, 5).Draw(t, "blocks") {
			block := netip.MustParsePrefix(fmt.Sprintf("10.%d.%d.0/%d", rapid.IntRange(10, 13).Draw(t, "pool"), i, rapid.SampledFrom([]int{26, 29, 30, 32}).Draw(t, "size")))
			owner := rapid.SampledFrom(append([]string{""}, names...)).Draw(t, "owner")
			record.Pools = append(record.Pools, model.Pool{Name: block.String(), Range: block, Node: owner})
			for k := range rapid.IntRange(0, min(3, 1<<(32-block.Bits()))).Draw(t, "pods") {
				a := block.Addr().As4()
				a[3] += byte(k)
				l := route.Local{Node: rapid.SampledFrom(names[:3]).Draw(t, "on"), Addr: netip.AddrFrom4(a)}
				l.Dev = "cali" + l.Node
				f.Local = append(f.Local, l)
				record.Claims = append(record.Claims, model.Claim{Pool: block.String(), Addr: l.Addr, Node: l.Node})
			}
		}
		f.Blocks = route.BlocksOf(record)
		tables := route.Converge(route.Fabric{}, f)
		for _, n := range f.Nodes {
			var want, got []string
			updates := real.resolved(t, n.Name, f)
			for _, u := range updates {
				if line := programmed(u, n.Name, f); line != "" {
					want = append(want, line)
				}
			}
			table, _ := tables.Of(n.Name)
			for _, r := range table.Routes {
				if r.Proto == fib.Felix || r.Dev == "vxlan.calico" {
					got = append(got, r.String())
					seen[string(r.Type)+r.Dev]++
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(want, got) {
				t.Fatalf("%s: Felix\n\t%s\nmodel\n\t%s\n%v", n.Name, strings.Join(want, "\n\t"), strings.Join(got, "\n\t"), updates)
			}
		}
	})
	for _, kind := range []string{"blackhole", "eth0", "vxlan.calico"} {
		if seen[kind] == 0 {
			t.Errorf("no route of kind %s was ever compared: %v", kind, seen)
		}
	}
}
