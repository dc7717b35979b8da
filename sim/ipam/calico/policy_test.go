package calico

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	upstream "github.com/projectcalico/calico/libcalico-go/lib/ipam"
	"github.com/projectcalico/calico/libcalico-go/lib/options"

	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/record"
)

// The effect of settings of pools, of Calico and of pods on an ADD, on both datastores, with the
// real code. A step is an action of an operator, or an ADD with its result: the addresses, or the
// error, followed by (exhausted) if upstream reports that no address is left.

type policyStep struct {
	do        func(*allocWorld)
	node, pod string
	ask       map[string]string // annotations of the pod
	want      string
}

func (s policyStep) run(w *allocWorld) {
	w.t.Helper()
	if s.do != nil {
		s.do(w)
		return
	}
	w.pod(ref(s.pod), s.ask)
	got, err := w.again(s.node, s.pod)
	if err != nil {
		got = strings.TrimSpace(err.Error())
		if errors.Is(err, ipam.ErrExhausted) {
			got += " (exhausted)"
		}
	}
	pools := s.ask["cni.projectcalico.org/ipv4pools"] != ""
	certain := s.ask != nil && s.ask["cni.projectcalico.org/ipAddrsNoIpam"] == "" && !pools
	failed := err != nil && !strings.HasPrefix(s.pod, "not-json")
	if errors.Is(err, ipam.ErrAsked) != (failed && certain) || errors.As(err, new(*ipam.PoolsError)) != (failed && pools) {
		w.t.Errorf("%s on %s: %v: is it for what the pod asked? want addresses %v, pools %v", s.pod, s.node, err, certain, pools)
	}
	if got != s.want {
		w.t.Errorf("%s on %s: %s\n%*swant %s", s.pod, s.node, got, len(s.pod+s.node)+2, "", s.want)
	}
}

func do(f func(*allocWorld)) policyStep { return policyStep{do: f} }

func add(node, pod, want string) policyStep { return policyStep{node: node, pod: pod, want: want} }

func addWith(node, pod, annotation, value, want string) policyStep {
	return policyStep{node: node, pod: pod, ask: map[string]string{"cni.projectcalico.org/" + annotation: value}, want: want}
}

func pool(name, cidr string, bits int, set ...func(*apiv3.IPPoolSpec)) policyStep {
	return do(func(w *allocWorld) {
		w.pool(name, cidr, append(set, func(s *apiv3.IPPoolSpec) { s.BlockSize = bits })...)
	})
}

func configure(c upstream.IPAMConfig) policyStep {
	return do(func(w *allocWorld) { w.must(w.direct.IPAM().SetIPAMConfig(w.ctx, c)) })
}

func reserve(cidrs ...string) policyStep {
	return do(func(w *allocWorld) {
		r := apiv3.NewIPReservation()
		r.Name, r.Spec.ReservedCIDRs = "r", cidrs
		_, err := w.direct.IPReservations().Create(w.ctx, r, options.SetOptions{})
		w.must(err)
	})
}

func edit(name string, f func(*apiv3.IPPoolSpec)) policyStep {
	return do(func(w *allocWorld) { w.change(name, f) })
}

var (
	tunnelsOnly = func(s *apiv3.IPPoolSpec) { s.AllowedUses = []apiv3.IPPoolAllowedUse{apiv3.IPPoolAllowedUseTunnel} }
	manual      = func(s *apiv3.IPPoolSpec) { m := apiv3.Manual; s.AssignmentMode = &m }
	disabled    = func(s *apiv3.IPPoolSpec) { s.Disabled = true }
	onRed       = func(s *apiv3.IPPoolSpec) { s.NodeSelector = `colour == "red"` }
	forDB       = func(s *apiv3.IPPoolSpec) {
		s.NamespaceSelector = `team == "db"`
		s.AllowedUses = []apiv3.IPPoolAllowedUse{apiv3.IPPoolAllowedUseWorkload}
	}
)

// How upstream begins when it has fewer addresses than were asked for.
const (
	none4 = "failed to request IPv4 addresses: Assigned 0 out of 1 requested IPv4 addresses; "
	none6 = "failed to request IPv6 addresses: Assigned 0 out of 1 requested IPv6 addresses; "
)

// dual is the ipam section of a network whose pods get an address of each family.
const dual = `{"type":"calico-ipam","assign_ipv4":"true","assign_ipv6":"true"}`

var policies = []struct {
	name, ipam string
	steps      []policyStep
}{
	{"several pools", "", []policyStep{
		pool("p", "10.0.0.0/31", 32), pool("q", "10.0.1.0/31", 32),
		add("a", "1", "10.0.0.0"), add("a", "2", "10.0.0.1"), add("a", "3", "10.0.1.1"), add("a", "4", "10.0.1.0"),
		add("a", "5", none4+"No IPs available in pools: [10.0.0.0/31 10.0.1.0/31] (exhausted)"),
	}},
	{"a pod's pools", "", []policyStep{
		pool("p", "10.0.0.0/30", 30), pool("q", "10.0.1.0/30", 30), pool("m", "10.0.2.0/30", 30, manual),
		pool("r", "10.0.3.0/30", 30, onRed),
		addWith("a", "name", "ipv4pools", `["q"]`, "10.0.1.0"),
		addWith("a", "cidr", "ipv4pools", `["10.0.1.0/30"]`, "10.0.1.1"),
		addWith("a", "manual", "ipv4pools", `["m"]`, "10.0.2.0"),
		addWith("a", "unselected", "ipv4pools", `["r"]`, "10.0.3.0"),
		addWith("a", "unknown", "ipv4pools", `["x"]`, `error parsing pool "x": invalid CIDR address: x`),
		addWith("a", "unknown-cidr", "ipv4pools", `["10.9.0.0/24"]`, "the given pool (10.9.0.0/24) does not exist, or is not enabled"),
		addWith("a", "six", "ipv4pools", `["fd00::/64"]`, `"fd00::" isn't a IPv4 address`),
		addWith("a", "not-json", "ipv4pools", `q`, "invalid character 'q' looking for beginning of value"),
		addWith("a", "third", "ipv4pools", `["q"]`, "10.0.1.2"), addWith("a", "fourth", "ipv4pools", `["q"]`, "10.0.1.3"),
		addWith("a", "fifth", "ipv4pools", `["q"]`, none4+"No IPs available in pools: [10.0.1.0/30] (exhausted)"),
	}},
	{"a namespace's pools", "", []policyStep{
		pool("p", "10.0.0.0/30", 30), pool("q", "10.0.1.0/30", 30),
		do(func(w *allocWorld) {
			w.namespace("db", nil, map[string]string{"cni.projectcalico.org/ipv4pools": `["q"]`})
		}),
		add("a", "db/0", "10.0.1.0"), add("a", "default/0", "10.0.1.1"), addWith("a", "db/1", "ipv4pools", `["p"]`, "10.0.0.0"),
	}},
	{"node selector", "", []policyStep{
		pool("p", "10.0.0.0/30", 30, onRed),
		add("a", "1", "no configured Calico pools for node a"), add("red", "2", "10.0.0.0"),
	}},
	{"namespace selector", "", []policyStep{
		pool("p", "10.0.0.0/30", 30, forDB), pool("q", "10.0.1.0/30", 30, disabled),
		do(func(w *allocWorld) { w.namespace("db", map[string]string{"team": "db"}, nil) }),
		add("a", "db/0", "10.0.0.0"), add("a", "default/0", "no configured Calico pools for node a"),
	}},
	{"reservation", "", []policyStep{
		pool("p", "10.0.0.0/29", 30), reserve("10.0.0.0/30", "10.0.0.5"),
		add("a", "1", "10.0.0.4"), add("a", "2", "10.0.0.6"), add("a", "3", "10.0.0.7"),
		add("a", "4", none4+"No IPs available in pools: [10.0.0.0/29] (exhausted)"),
		addWith("a", "5", "ipAddrs", `["10.0.0.5"]`, "10.0.0.5"),
	}},
	{"a pool for tunnels", "", []policyStep{
		pool("p", "10.0.0.0/30", 30, tunnelsOnly),
		add("a", "1", "cannot find a qualified ippool, no pools match the required use (Workload)"),
		addWith("a", "2", "ipAddrs", `["10.0.0.1"]`, "10.0.0.1"),
	}},
	{"a manual pool", "", []policyStep{
		pool("p", "10.0.0.0/30", 30, manual),
		add("a", "1", "no configured Calico pools for node a"), addWith("a", "2", "ipAddrs", `["10.0.0.1"]`, "10.0.0.1"),
	}},
	{"no pool at all", "", []policyStep{add("a", "1", "cannot find a qualified ippool")}},
	{"fixed address", "", []policyStep{
		pool("p", "10.0.0.0/30", 30),
		addWith("a", "1", "ipAddrs", `["10.0.0.2"]`, "10.0.0.2"),
		addWith("a", "2", "ipAddrs", `["10.0.0.2"]`, "error getting IP from IPAM: resource already exists: 10.0.0.2"),
		addWith("b", "3", "ipAddrs", `["10.0.0.3"]`, "10.0.0.3"),
		addWith("a", "4", "ipAddrs", `["10.9.0.1"]`, "error getting IP from IPAM: The provided IP address is not in a configured pool"),
		addWith("a", "5", "ipAddrs", `["10.0.0.0","10.0.0.1"]`, `cannot have more than one IPv4 address for "cni.projectcalico.org/ipAddrs" annotation`),
		addWith("a", "6", "ipAddrs", `[]`, `annotation "cni.projectcalico.org/ipAddrs" specified but empty`),
		addWith("a", "7", "ipAddrsNoIpam", `["10.9.0.1"]`, "requested feature is not enabled: ip_addrs_no_ipam"),
		configure(upstream.IPAMConfig{StrictAffinity: true, AutoAllocateBlocks: true}),
		addWith("b", "8", "ipAddrs", `["10.0.0.1"]`, "error getting IP from IPAM: Block host affinity does not match"),
	}},
	{"dual stack", dual, []policyStep{
		pool("p", "10.0.0.0/30", 30), pool("s", "fd00::/127", 127),
		add("a", "1", "10.0.0.0 fd00::"), addWith("a", "2", "ipFamilies", `["IPv4"]`, "10.0.0.1"),
		addWith("a", "3", "ipFamilies", `["IPv6"]`, "fd00::1"),
		add("a", "4", none6+"No IPs available in pools: [fd00::/127] (exhausted)"),
		addWith("a", "5", "ipFamilies", `["IPv4"]`, "10.0.0.3"),
		addWith("a", "not-json", "ipFamilies", `["IPv5"]`, `error parsing ipFamilies: ["IPv5"]`),
		addWith("a", "7", "ipAddrs", `["10.0.0.2","fd00::1"]`, "error getting IP from IPAM: resource already exists: fd00::1"),
		do(func(w *allocWorld) { // the failed ADD has not released the first of the two: the DEL does
			if got := w.holder("10.0.0.2"); got != record.NetworkKey+".sandbox-7" {
				w.t.Errorf("10.0.0.2 is held by %q", got)
			}
		}),
	}},
	{"strict affinity", "", []policyStep{
		pool("p", "10.0.0.0/30", 31), configure(upstream.IPAMConfig{StrictAffinity: true, AutoAllocateBlocks: true}),
		add("a", "1", "10.0.0.2"), add("b", "2", "10.0.0.0"),
		add("red", "3", none4+"No more free affine blocks and strict affinity enabled (exhausted)"),
		configure(upstream.IPAMConfig{StrictAffinity: false, AutoAllocateBlocks: true}),
		add("red", "4", "10.0.0.3"),
	}},
	{"no automatic blocks", "", []policyStep{
		pool("p", "10.0.0.0/30", 31), add("a", "1", "10.0.0.2"),
		configure(upstream.IPAMConfig{StrictAffinity: true}),
		add("a", "2", "10.0.0.3"), add("a", "3", "failed to find or claim a block"),
		add("b", "4", "failed to find or claim a block"),
	}},
	{"one block a host", "", []policyStep{
		pool("p", "10.0.0.0/29", 31), configure(upstream.IPAMConfig{StrictAffinity: true, AutoAllocateBlocks: true, MaxBlocksPerHost: 1}),
		add("a", "1", "10.0.0.6"), add("a", "2", "10.0.0.7"),
		add("a", "3", "cannot allocate new block due to per host block limit"),
		configure(upstream.IPAMConfig{StrictAffinity: true, AutoAllocateBlocks: true, MaxBlocksPerHost: 2}),
		add("a", "4", "10.0.0.0"),
		add("b", "5", "10.0.0.2"),
		configure(upstream.IPAMConfig{AutoAllocateBlocks: true}),
		add("a", "6", "10.0.0.1"), add("a", "7", "10.0.0.4"),
	}},
	{"a pool disabled and enabled again", "", []policyStep{
		pool("p", "10.0.0.0/30", 30), add("a", "1", "10.0.0.0"), edit("p", disabled),
		add("a", "2", "cannot find a qualified ippool"),
		addWith("a", "3", "ipv4pools", `["p"]`, "cannot find a qualified ippool"),
		edit("p", func(s *apiv3.IPPoolSpec) { s.Disabled = false }), add("a", "4", "10.0.0.1"),
	}},
	{"a pool that moves to other nodes", "", []policyStep{
		pool("p", "10.0.0.0/30", 31), pool("q", "10.0.1.0/30", 31), add("a", "1", "10.0.0.2"), add("a", "2", "10.0.0.3"),
		edit("p", onRed), add("a", "3", "10.0.1.2"), add("a", "4", "10.0.1.3"), add("a", "5", "10.0.1.0"),
		add("red", "6", "10.0.0.0"),
	}},
	{"a pool deleted", "", []policyStep{
		pool("p", "10.0.0.0/30", 30), add("a", "1", "10.0.0.0"),
		do(func(w *allocWorld) {
			_, err := w.direct.IPPools().Delete(w.ctx, "p", options.DeleteOptions{})
			w.must(err)
		}),
		add("a", "2", "cannot find a qualified ippool"), pool("p", "10.0.0.0/30", 30), add("a", "3", "10.0.0.1"),
	}},
}

func TestPolicies(t *testing.T) {
	server := startEtcd(t)
	for _, ds := range datastores {
		for _, c := range policies {
			t.Run(ds+"/"+c.name, func(t *testing.T) {
				story(t, server, allocRun{datastore: ds, ipam: c.ipam}, func(w *allocWorld) {
					w.nodes("a", "b")
					w.node("red", map[string]string{"colour": "red"})
					for _, s := range c.steps {
						s.run(w)
					}
				})
			})
		}
	}
}

// Every size of block that Calico allows: the first pod of a host gets the first address of the
// block that the hash of the host's name selects, in a pool of two.
func TestBlockSizes(t *testing.T) {
	onEach(t, allocRun{ipam: dual}, func(t *testing.T, w *allocWorld) {
		w.nodes("a")
		for i := range 13 {
			v4, v6 := 20+i, 116+i
			p4, p6 := fmt.Sprintf("10.%d.0.0/%d", i, v4-1), fmt.Sprintf("fd00:%d::/%d", i, v6-1)
			w.pool("four", p4, func(s *apiv3.IPPoolSpec) { s.BlockSize = v4 })
			w.pool("six", p6, func(s *apiv3.IPPoolSpec) { s.BlockSize = v6 })
			got, err := w.add("a", fmt.Sprintf("web-%d", i))
			w.must(err)
			var a4, a6 string
			_, _ = fmt.Sscan(got, &a4, &a6)
			for _, c := range []struct {
				addr, pool string
				bits       int
			}{{a4, p4, v4}, {a6, p6, v6}} {
				a, err := netip.ParseAddr(c.addr)
				if err != nil || !netip.MustParsePrefix(c.pool).Contains(a) || netip.PrefixFrom(a, c.bits).Masked().Addr() != a {
					t.Errorf("blocks of /%d in %s: %q", c.bits, c.pool, c.addr)
				}
			}
			for _, name := range []string{"four", "six"} {
				_, err := w.direct.IPPools().Delete(w.ctx, name, options.DeleteOptions{})
				w.must(err)
			}
		}
	})
}
