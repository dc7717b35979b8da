package calico

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unsafe"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	"github.com/projectcalico/calico/confd/pkg/backends"
	confd "github.com/projectcalico/calico/confd/pkg/backends/calico"
	confdtemplate "github.com/projectcalico/calico/confd/pkg/resource/template"
	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	cmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/syncersv1/updateprocessors"
	cnet "github.com/projectcalico/calico/libcalico-go/lib/net"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"ipamsim/model"
	"ipamsim/model/route"
	"ipamsim/model/route/fib"
)

// What follows holds the rules of model/route against Calico's own code: confd's
// cache and templates here, Felix's resolver in routesfelix_test.go.

// calicoSources is where Calico's templates are: they are read from the module.
func calicoSources(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/projectcalico/calico").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		t.Skipf("the sources of Calico are not here: %v", err)
	}
	return dir
}

//go:linkname confdUpdateCache github.com/projectcalico/calico/confd/pkg/backends/calico.(*client).updateCache
func confdUpdateCache(c unsafe.Pointer, update bapi.UpdateType, kvp *cmodel.KVPair) bool

// confdCache is the real client of confd, without a datastore: the test passes updates in as the
// syncer would, and confd's own code decides what it keeps.
type confdCache struct {
	backends.StoreClient
	at unsafe.Pointer
}

func newConfdCache(settings map[string]string) confdCache {
	client := reflect.New(reflect.TypeOf(confd.NewCalicoClient).Out(0).Elem())
	for field, value := range map[string]any{"cache": settings, "revisionsByPrefix": map[string]uint64{}} {
		f := client.Elem().FieldByName(field)
		reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem().Set(reflect.ValueOf(value))
	}
	return confdCache{client.Interface().(backends.StoreClient), client.UnsafePointer()}
}

func (c confdCache) put(key cmodel.Key, value any) {
	confdUpdateCache(c.at, bapi.UpdateTypeKVNew, &cmodel.KVPair{Key: key, Value: value})
}

// poolPair is a pool as the syncers bring it: stored as an IPPool, then turned
// into the form that confd and Felix read by Calico's own processor.
func poolPair(t interface{ Fatal(...any) }, p model.IPPool) *cmodel.KVPair {
	key := cmodel.ResourceKey{Kind: apiv3.KindIPPool, Name: p.Name}
	out, err := updateprocessors.NewIPPoolUpdateProcessor().Process(&cmodel.KVPair{Key: key, Value: storedPool(p)})
	if err != nil || len(out) != 1 {
		t.Fatal("IPPool: ", out, err)
	}
	return out[0]
}

// storedPool is a pool as a user writes it.
func storedPool(p model.IPPool) *apiv3.IPPool {
	mode := func(m string) string {
		if m == "" {
			return "Never"
		}
		return m
	}
	return &apiv3.IPPool{ObjectMeta: metav1.ObjectMeta{Name: p.Name}, Spec: apiv3.IPPoolSpec{
		CIDR: p.Prefix.String(), BlockSize: 26, DisableBGPExport: p.NoExport,
		IPIPMode: apiv3.IPIPMode(mode(p.IPIP)), VXLANMode: apiv3.VXLANMode(mode(p.VXLAN)),
	}}
}

func calicoNet(p netip.Prefix) cnet.IPNet {
	return cnet.IPNet{IPNet: net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}}
}

// rendered are the files that confd renders from a node's facts: bird_aggr.cfg and bird_ipam.cfg.
func rendered(t interface{ Fatal(...any) }, sources, dir, node string, f route.Facts) string {
	settings := map[string]string{"/calico/bgp/v1/global/as_num": "64512", "/calico/bgp/v1/global/node_mesh": `{"enabled":true}`}
	for _, n := range f.Nodes {
		h := "/calico/bgp/v1/host/" + n.Name + "/"
		settings[h+"ip_addr_v4"], settings[h+"network_v4"], settings[h+"rr_cluster_id"] = n.Addr.Addr().String(), n.Addr.Masked().String(), ""
	}
	cache := newConfdCache(settings)
	for _, p := range f.Pools {
		kv := poolPair(t, p)
		cache.put(kv.Key, kv.Value)
	}
	for _, a := range f.Affinities {
		cache.put(cmodel.BlockAffinityKey{CIDR: calicoNet(a.Block), AffinityType: "host", Host: a.Node},
			&cmodel.BlockAffinity{State: cmodel.BlockAffinityState(a.State)})
	}
	prepare()
	confdtemplate.NodeName = node
	if err := os.Setenv("NODENAME", node); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range []string{"bird_aggr", "bird_ipam"} {
		b, err := os.ReadFile(filepath.Join(sources, "confd/etc/calico/confd/conf.d", file+".toml"))
		if err != nil {
			t.Fatal(err)
		}
		b = []byte(strings.ReplaceAll(string(b), "/etc/calico/confd/config", dir))
		if err := os.MkdirAll(filepath.Join(dir, "conf.d"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "conf.d", file+".toml"), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := confdtemplate.Process(confdtemplate.Config{
		ConfDir: dir, ConfigDir: filepath.Join(dir, "conf.d"), TemplateDir: filepath.Join(sources, "confd/etc/calico/confd/templates"),
		StoreClient: cache.StoreClient, SyncOnly: true,
	}); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"bird_aggr", "bird_ipam"} {
		b, err := os.ReadFile(filepath.Join(dir, file+".cfg"))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

// birdConfig runs what confd rendered: enough of BIRD's filter language for it,
// and an error for anything else.
type birdConfig struct {
	blackholes []netip.Prefix
	functions  map[string]string
}

var (
	birdStatic   = regexp.MustCompile(`(?m)^\s*route (\S+) blackhole;`)
	birdFunction = regexp.MustCompile(`(?ms)^(?:function|filter) (\w+)\s*(?:\([^)]*\))?\s*\{$?(.*?)^\}`)
	birdComment  = regexp.MustCompile(`(?m)#.*$`)
	birdIf       = regexp.MustCompile(`^if \( net (=|~) (\S+) \) then \{`)
	birdCall     = regexp.MustCompile(`^(\w+)\(\);`)
	birdTunnel   = regexp.MustCompile(`^krt_tunnel = "([^"]*)";`)
	birdCross    = regexp.MustCompile(`^if defined\(bgp_next_hop\) && \( bgp_next_hop ~ (\S+) \) then\s*krt_tunnel = "([^"]*)";\s*else\s*krt_tunnel = "([^"]*)";`)
	// Routes of pods have no interface named *.cali, and no communities are set.
	birdOther = regexp.MustCompile(`^(?s)(if \(internal_peer\) then \{\s*reject_tunnel_routes\(\);\s*\}|reject_local_routes\(\);|apply_communities\(\);)`)
)

func parseBIRD(text string) birdConfig {
	c := birdConfig{functions: map[string]string{}}
	for _, m := range birdStatic.FindAllStringSubmatch(text, -1) {
		c.blackholes = append(c.blackholes, netip.MustParsePrefix(m[1]))
	}
	slices.SortFunc(c.blackholes, netip.Prefix.Compare)
	for _, m := range birdFunction.FindAllStringSubmatch(birdComment.ReplaceAllString(text, ""), -1) {
		c.functions[m[1]] = m[2]
	}
	return c
}

// run executes a function for a route: "accept", "reject", or "" if it returns
// without either; and the tunnel that was set for the kernel.
func (c birdConfig) run(t interface{ Fatal(...any) }, name string, dst netip.Prefix, hop netip.Addr) (verdict, tunnel string) {
	body, ok := c.functions[name]
	if !ok {
		t.Fatal("no function ", name, " in what confd rendered")
	}
	return c.block(t, strings.TrimSpace(body), dst, hop)
}

func (c birdConfig) block(t interface{ Fatal(...any) }, s string, dst netip.Prefix, hop netip.Addr) (verdict, tunnel string) {
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		if m := birdIf.FindStringSubmatch(s); m != nil {
			inner, rest := braces(s[len(m[0]):])
			s = rest
			p := netip.MustParsePrefix(m[2])
			if m[1] == "=" && p == dst || m[1] == "~" && p.Bits() <= dst.Bits() && p.Contains(dst.Addr()) {
				if v, tun := c.block(t, inner, dst, hop); v != "" {
					return v, tun
				}
			}
			continue
		}
		if m := birdCross.FindStringSubmatch(s); m != nil {
			s, tunnel = s[len(m[0]):], m[3]
			if netip.MustParsePrefix(m[1]).Contains(hop) {
				tunnel = m[2]
			}
			continue
		}
		if m := birdTunnel.FindStringSubmatch(s); m != nil {
			s, tunnel = s[len(m[0]):], m[1]
			continue
		}
		if m := birdOther.FindString(s); m != "" {
			s = s[len(m):]
			continue
		}
		if m := birdCall.FindStringSubmatch(s); m != nil {
			s = s[len(m[0]):]
			if v, tun := c.run(t, m[1], dst, hop); v != "" {
				return v, tun
			}
			continue
		}
		for _, v := range []string{"accept", "reject"} {
			if strings.HasPrefix(s, v+";") {
				return v, tunnel
			}
		}
		t.Fatal("BIRD says what this test does not understand: ", s)
	}
	return "", tunnel
}

// braces splits after the brace that closes a block already opened.
func braces(s string) (inner, rest string) {
	depth := 1
	for i, r := range s {
		switch r {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[:i], s[i+1:]
			}
		}
	}
	return s, ""
}

// drawnPools are one to three pools of any kind.
func drawnPools(t *rapid.T) (out []model.IPPool) {
	modes := []string{"", "Always", "CrossSubnet"}
	for i := range rapid.IntRange(1, 3).Draw(t, "pools") {
		p := model.IPPool{Name: fmt.Sprintf("pool-%d", i), Prefix: netip.MustParsePrefix(fmt.Sprintf("10.%d.0.0/16", 10+i)), NoExport: rapid.Bool().Draw(t, "noExport")}
		if rapid.Bool().Draw(t, "VXLAN") {
			p.VXLAN = rapid.SampledFrom(modes).Draw(t, "mode")
		} else {
			p.IPIP = rapid.SampledFrom(modes).Draw(t, "mode")
		}
		out = append(out, p)
	}
	return out
}

// The files that confd renders agree with model/route: the blackholes, the exported routes, the
// routes in the kernel and their tunnels. Affinities have every state, pools every kind, blocks
// every size.
func TestRoutesAgreeWithConfd(t *testing.T) {
	sources, dir := calicoSources(t), t.TempDir()
	states := []string{model.Pending, model.Confirmed, model.PendingDeletion, ""}
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		f := route.Facts{Pools: drawnPools(t), Nodes: []route.Node{
			{Name: "a", Addr: netip.MustParsePrefix("192.168.0.11/24"), Up: true, BIRD: true, Felix: true},
			{Name: "b", Addr: netip.MustParsePrefix("192.168.0.12/24"), Up: true, BIRD: true, Felix: true},
			{Name: "e", Addr: netip.MustParsePrefix("192.168.1.15/24"), Up: true, BIRD: true, Felix: true},
		}}
		var blocks []netip.Prefix
		for i := range rapid.IntRange(0, 6).Draw(t, "blocks") {
			block := netip.MustParsePrefix(fmt.Sprintf("10.%d.%d.0/%d", rapid.IntRange(10, 13).Draw(t, "pool"), i, rapid.SampledFrom([]int{24, 26, 29, 31, 32}).Draw(t, "size")))
			blocks = append(blocks, block)
			for _, n := range f.Nodes {
				if rapid.IntRange(0, 2).Draw(t, "affinity of "+n.Name) == 0 {
					f.Affinities = append(f.Affinities, model.Affinity{Block: block, Node: n.Name, State: rapid.SampledFrom(states).Draw(t, "state")})
				}
			}
			if rapid.Bool().Draw(t, "pod") {
				n := rapid.SampledFrom(f.Nodes).Draw(t, "on").Name
				f.Local = append(f.Local, route.Local{Node: n, Addr: block.Addr(), Dev: "cali" + n})
			}
		}
		tables := route.Converge(route.Fabric{}, f)
		configs := map[string]birdConfig{}
		for _, n := range f.Nodes {
			configs[n.Name] = parseBIRD(rendered(t, sources, dir, n.Name, f))
		}
		for _, n := range f.Nodes {
			sameBlackholes(t, tables, n.Name, configs[n.Name])
			for _, b := range blocks {
				for _, dst := range []netip.Prefix{b, netip.PrefixFrom(b.Addr(), 32)} {
					sameExport(t, f, n.Name, dst, configs[n.Name])
					seen[sameRoute(t, tables, f, n, dst, configs)]++
				}
			}
		}
	})
	for _, kind := range []string{"none", "eth0", "tunl0", "its own"} {
		if seen[kind] == 0 {
			t.Errorf("no route of kind %q was ever compared: %v", kind, seen)
		}
	}
}

// sameBlackholes: the kernel has a blackhole of BIRD exactly for the static routes that confd
// rendered and BIRD's filter accepts, except those that a pod's own route replaces.
func sameBlackholes(t *rapid.T, tables *fib.Tables, node string, c birdConfig) {
	var want, got []netip.Prefix
	for _, b := range c.blackholes {
		if v, _ := c.run(t, "calico_kernel_programming", b, netip.Addr{}); v == "accept" {
			want = append(want, b)
		}
	}
	table, _ := tables.Of(node)
	for _, r := range table.Routes {
		if r.Type == fib.Blackhole && r.Proto == fib.BIRD {
			got = append(got, r.Dst)
		}
	}
	slices.SortFunc(got, netip.Prefix.Compare)
	if !slices.Equal(want, got) {
		t.Fatalf("%s: confd renders blackholes %v, the model has %v", node, want, got)
	}
}

// sameExport: the model's export filter is the rendered one.
func sameExport(t *rapid.T, f route.Facts, node string, dst netip.Prefix, c birdConfig) {
	var own []netip.Prefix
	for _, a := range f.Affinities {
		if a.Node == node && (a.State == model.Confirmed || a.State == "") {
			own = append(own, a.Block)
		}
	}
	v, _ := c.run(t, "calico_export_to_bgp_peers", dst, netip.Addr{})
	if got := route.Exports(f.Pools, own, dst); got != (v == "accept") {
		t.Fatalf("%s: export of %s: confd's filter says %q, the model %t", node, dst, v, got)
	}
}

// sameRoute: what node has for dst through others is what their filters export
// and its own programs into the kernel. It returns what kind of route that is:
// the device, none, or its own.
func sameRoute(t *rapid.T, tables *fib.Tables, f route.Facts, node route.Node, dst netip.Prefix, configs map[string]birdConfig) string {
	if slices.Contains(configs[node.Name].blackholes, dst) || slices.Contains(f.Local, route.Local{Node: node.Name, Addr: dst.Addr(), Dev: "cali" + node.Name}) && dst.IsSingleIP() {
		return "its own"
	}
	// A next hop on the own subnet is nearer than any beyond.
	hops := map[bool]map[netip.Addr]bool{true: {}, false: {}}
	for _, o := range f.Nodes {
		has := slices.Contains(configs[o.Name].blackholes, dst) ||
			dst.IsSingleIP() && slices.Contains(f.Local, route.Local{Node: o.Name, Addr: dst.Addr(), Dev: "cali" + o.Name})
		if v, _ := configs[o.Name].run(t, "calico_export_to_bgp_peers", dst, netip.Addr{}); o.Name != node.Name && has && v == "accept" {
			hops[node.Addr.Contains(o.Addr.Addr())][o.Addr.Addr()] = true
		}
	}
	near := len(hops[true]) > 0
	via := slices.SortedFunc(maps.Keys(hops[near]), netip.Addr.Compare)
	want := "none"
	if len(via) > 0 {
		if v, tunnel := configs[node.Name].run(t, "calico_kernel_programming", dst, via[0]); v == "accept" {
			if tunnel == "" && !near {
				via = []netip.Addr{node.Addr.Masked().Addr().Next()}
			}
			want = fmt.Sprint(via, tunnel)
		}
	}
	got, kind := "none", "none"
	table, _ := tables.Of(node.Name)
	for _, r := range table.Routes {
		if r.Dst == dst && r.Proto == fib.BIRD {
			got, kind = fmt.Sprint(r.Via, strings.TrimPrefix(r.Dev, "eth0")), r.Dev
		}
	}
	if got != want {
		t.Fatalf("%s: route to %s: by confd's filters %s, by the model %s\n%s", node.Name, dst, want, got, table)
	}
	return kind
}
