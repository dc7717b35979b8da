package metallb

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	_ "unsafe" // for linkname

	"github.com/go-kit/log"
	metallbv1beta1 "go.universe.tf/metallb/api/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"ipamsim/model"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/metallb/upstream/allocator"
	"ipamsim/sim/ipam/metallb/upstream/allocator/k8salloc"
	"ipamsim/sim/ipam/metallb/upstream/config"
	"ipamsim/sim/ipam/metallb/upstream/program"
)

// upstreams is the controller of the program, with no client.
type upstreams struct {
	client interface {
		UpdateStatus(*corev1.Service) error
		Infof(svc *corev1.Service, desc, msg string, args ...any)
		Errorf(svc *corev1.Service, desc, msg string, args ...any)
	}
	pools *config.Pools
	ips   *allocator.Allocator
}

//go:linkname converge ipamsim/sim/ipam/metallb/upstream/program.(*controller).convergeBalancer
func converge(c *upstreams, l log.Logger, key string, x *corev1.Service) error

// ear receives the controller's events of Services; assigned reports that a Service got new addresses.
type ear struct{ assigned bool }

func (*ear) UpdateStatus(*corev1.Service) error { return nil }

func (e *ear) Infof(_ *corev1.Service, _, text string, _ ...any) {
	e.assigned = e.assigned || text == "Assigned IP %q"
}

func (*ear) Errorf(*corev1.Service, string, string, ...any) {}

// theirs are the results of upstream's own controller for each Service that it serves, as in judge.
func theirs(c *config.Config, r *record, all map[string]*model.Balancer) map[string]string {
	out, u := map[string]string{}, &upstreams{&ear{}, c.Pools, allocator.New(func(string) {})}
	u.ips.SetPools(c.Pools)
	names := slices.Sorted(maps.Keys(all))
	ask := func(name string) (x *corev1.Service, assigned bool, err error) {
		hears := &ear{}
		x, u.client = r.services[name].DeepCopy(), hears
		err = converge(u, log.NewNopLogger(), name, x)
		u.ips.Unassign(name)
		return x, hears.assigned, err
	}
	keep := func(name string) {
		x, ips := r.services[name].Service, []net.IP(nil)
		for _, a := range ipam.Ingress(x) {
			ips = append(ips, a.AsSlice())
		}
		if err := u.ips.Assign(name, x, ips, k8salloc.Ports(x), program.SharingKey(x), k8salloc.BackendKey(x)); err != nil {
			panic(err)
		}
	}
	for _, name := range names {
		if len(all[name].Addrs) == 0 {
			continue
		}
		if x, assigned, _ := ask(name); assigned || len(ipam.Ingress(x)) == 0 {
			out[name] = "disallowed"
			continue
		}
		keep(name)
		out[name] = "kept"
	}
	for _, name := range names {
		if out[name] == "disallowed" {
			continue
		}
		x, _, err := ask(name)
		now := ipam.Ingress(x)
		switch {
		case out[name] == "kept" && len(now) > len(all[name].Addrs):
			out[name] = "kept, and another"
		case out[name] == "" && err == nil && len(now) > 0:
			out[name] = "could be served"
		case out[name] == "":
			out[name] = "cannot be served"
		}
		if len(all[name].Addrs) > 0 {
			keep(name)
		}
	}
	return out
}

// ours is what judge says of them.
func ours(all map[string]*model.Balancer) map[string]string {
	out := map[string]string{}
	for name, b := range all {
		switch {
		case b.Disallowed:
			out[name] = "disallowed"
		case len(b.Addrs) > 0 && b.Free > 0:
			out[name] = "kept, and another"
		case len(b.Addrs) > 0:
			out[name] = "kept"
		case b.Free > 0:
			out[name] = "could be served"
		default:
			out[name] = "cannot be served"
		}
	}
	return out
}

// TestConformanceJudge compares the judge with upstream's own controller in random clusters: which
// configurations are valid, which Services keep their addresses, which of the others could be
// served.
//
// Two differences are known, and are upstream's: for a pool with namespaceSelectors that match no
// namespace it serves all Services (TestSelectorsOfNone), and it assigns a second family to a
// Service with one family that prefers two (TestSecondFamily).
//
// The clusters that must show every case are always the same thousand.
func TestConformanceJudge(t *testing.T) {
	seen, other := map[string]int{}, 0
	law := func(t rapid.TB, r *record) {
		c, err := config.For(config.ClusterResources{
			Pools: sorted(r.pools), Communities: sorted(r.communities), Namespaces: sorted(r.namespaces),
		}, config.ValidationFor("native"), config.ForOptions{})
		if _, our := r.policy(); (err == nil) != (our == nil) {
			t.Fatalf("upstream: %v; the judge: %v", err, our)
		}
		if err != nil {
			seen["not valid"]++
			return
		}
		all := map[string]*model.Balancer{}
		for _, s := range r.snapshot().Services.All {
			if s.Balancer != nil {
				all[s.Name] = s.Balancer
			}
		}
		got, want := ours(all), theirs(c, r, all)
		for name := range all {
			seen[want[name]]++
			if got[name] == want[name] {
				continue
			}
			if r.opens() || got[name] == "kept" && want[name] == "kept, and another" && len(r.services[name].Spec.ClusterIPs) == 1 {
				other++
				continue
			}
			t.Errorf("%s: %s, upstream says %s\n%s", name, got[name], want[name], r.describe())
		}
	}
	clusters := rapid.Custom(drawn)
	for seed := range 1000 {
		law(t, clusters.Example(seed))
	}
	t.Logf("%v; %d that differ as is known", seen, other)
	for _, what := range []string{"not valid", "kept", "kept, and another", "disallowed", "could be served", "cannot be served"} {
		if seen[what] == 0 {
			t.Errorf("no case of: %s", what)
		}
	}
	rapid.Check(t, func(t *rapid.T) { law(t, clusters.Draw(t, "cluster")) })
}

// By the documentation, a pool whose namespaceSelectors match no namespace serves no Service. In
// upstream's code it serves all: a Service of any namespace keeps its addresses.
func TestSelectorsOfNone(t *testing.T) {
	s := []ipam.Object{
		pool("external", "addresses: [10.9.0.0/31], serviceAllocation: {namespaceSelectors: [{matchLabels: {team: a}}]}"),
		manifest("a", "", "", "10.9.0.0"),
	}
	r := newRecord(nil)
	for _, o := range s {
		if err := r.read(o); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.For(config.ClusterResources{Pools: sorted(r.pools)}, config.ValidationFor("native"), config.ForOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := r.snapshot().Services.All[0].Balancer
	all := map[string]*model.Balancer{"default/a": b}
	if got, want := ours(all)["default/a"], theirs(c, r, all)["default/a"]; got != "disallowed" || want != "kept" {
		t.Errorf("%s, upstream says %s", got, want)
	}
}

// A Service with a cluster IP of one family that prefers two gets an address of the second family.
// At the next sync of the Service upstream takes this for a change of families: it removes both
// addresses, assigns one, and repeats this forever.
func TestSecondFamily(t *testing.T) {
	r := newRecord(nil)
	for _, o := range []ipam.Object{pool("external", `addresses: [10.9.0.0/31, "fd00::/127"]`), manifest("a", "", "ipFamilyPolicy: PreferDualStack", "")} {
		if err := r.read(o); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.For(config.ClusterResources{Pools: sorted(r.pools)}, config.ValidationFor("native"), config.ForOptions{})
	if err != nil {
		t.Fatal(err)
	}
	u, x := &upstreams{&ear{}, c.Pools, allocator.New(func(string) {})}, r.services["default/a"].Service
	u.ips.SetPools(c.Pools)
	for _, want := range []string{"[10.9.0.0]", "[10.9.0.0 fd00::]", "[10.9.0.0]", "[10.9.0.0 fd00::]", "[10.9.0.0]"} {
		if err := converge(u, log.NewNopLogger(), "default/a", x); err != nil || fmt.Sprint(ipam.Ingress(x)) != want {
			t.Errorf("%v, %v, want %s", ipam.Ingress(x), err, want)
		}
	}
}

// opens reports whether a pool has selectors of namespaces that take none.
func (r *record) opens() bool {
	pools, err := r.policy()
	if err != nil {
		return false
	}
	for _, p := range pools {
		if p.For != nil && p.For.Selective && len(p.For.Namespaces) == 0 {
			return true
		}
	}
	return false
}

// describe renders a cluster for people.
func (r *record) describe() string {
	var b strings.Builder
	for _, p := range sorted(r.pools) {
		fmt.Fprintf(&b, "%s: %+v\n", p.Name, p.Spec)
	}
	for _, name := range slices.Sorted(maps.Keys(r.services)) {
		x := r.services[name]
		fmt.Fprintf(&b, "%s: %v %v %+v %v\n", name, x.Labels, x.Annotations, x.Spec, ipam.Ingress(x.Service))
	}
	return b.String()
}

// drawn is a cluster.
func drawn(t *rapid.T) *record {
	r := newRecord(nil)
	label := rapid.SampledFrom([]map[string]string{nil, {"team": "a"}, {"team": "b"}, {"team": "a", "tier": "gold"}})
	for _, name := range []string{"one", "two"} {
		n := corev1.Namespace{}
		n.Name, n.Labels = name, label.Draw(t, "labels of "+name)
		r.namespaces[name] = n
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "pools") {
		r.takePool(namespace, fmt.Sprint("p", i), drawnPool(t, i))
	}
	if rapid.IntRange(0, 5).Draw(t, "community") == 0 {
		c := &metallbv1beta1.Community{}
		value := rapid.SampledFrom([]string{"1:2", "70000:1", "large:1:2:3", "huge:1:2:3", "1", "1:2:3", "65535:65535", "a:1"})
		for range rapid.IntRange(1, 2).Draw(t, "communities") {
			name := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "name")
			c.Spec.Communities = append(c.Spec.Communities, metallbv1beta1.CommunityAlias{Name: name, Value: value.Draw(t, "value")})
		}
		r.takeCommunity(namespace, "c", c)
	}
	for i := range rapid.IntRange(1, 5).Draw(t, "services") {
		x := drawnService(t)
		x.Namespace, x.Name, x.Labels = rapid.SampledFrom([]string{"one", "two"}).Draw(t, "namespace"), fmt.Sprint("s", i), label.Draw(t, "labels")
		r.takeService(x)
	}
	return r
}

// Few addresses, so that pools overlap, fill up, and are asked for.
var (
	prefixes  = []string{"10.9.%d.0/30", "10.9.%d.254/31", "10.9.%d.255-10.9.%d.255", "fd00:%d::/126", "fd00:%d::10-fd00:%d::11", "fd00:%d:1::/60"}
	odd       = []string{"10.9.%d.1/30", "10.9.0.2/31", " 10.9.%d.6 - 10.9.%d.9", "10.9.%d.9-10.9.%d.6", "10.9.%d.0/33", "10.9.%d", "fd00:%d::1-fd00:%d::1", "10.9.%d.1-fd00::1"}
	addresses = []string{
		"10.9.0.0", "10.9.0.1", "10.9.0.1", "10.9.0.1", "10.9.1.1", "10.9.1.2", "10.9.0.255", "10.9.0.254",
		"fd00:0::1", "fd00:0::1", "fd00:1::1", "fd00:0::10", "10.8.0.1",
	}
)

func drawnPool(t *rapid.T, i int) *metallbv1beta1.IPAddressPool {
	p, pick := &metallbv1beta1.IPAddressPool{}, func(n int, what string) bool { return rapid.IntRange(0, n).Draw(t, what) == 0 }
	all := rapid.SliceOfNDistinct(rapid.SampledFrom(prefixes), 1, 3, rapid.ID).Draw(t, "addresses")
	if pick(19, "odd") {
		all = append(all[1:], rapid.SampledFrom(odd).Draw(t, "odd"))[:rapid.IntRange(0, len(all)).Draw(t, "how many")]
	}
	for _, a := range all {
		p.Spec.Addresses = append(p.Spec.Addresses, strings.ReplaceAll(a, "%d", fmt.Sprint(i)))
	}
	p.Spec.AvoidBuggyIPs = pick(2, "avoid buggy")
	if pick(3, "auto assign") {
		auto := pick(1, "which")
		p.Spec.AutoAssign = &auto
	}
	if pick(1, "everybody's") {
		return p
	}
	a := &metallbv1beta1.ServiceAllocation{Priority: rapid.IntRange(0, 3).Draw(t, "priority")}
	if pick(1, "namespaces") {
		a.Namespaces = rapid.SliceOfN(rapid.SampledFrom([]string{"one", "two", "gone"}), 0, 2).Draw(t, "namespaces")
	}
	in := func(values ...string) metav1.LabelSelector {
		return metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: metav1.LabelSelectorOpIn, Values: values}}}
	}
	selector := rapid.Custom(func(t *rapid.T) metav1.LabelSelector {
		if rapid.IntRange(0, 9).Draw(t, "an odd one") == 0 {
			return rapid.SampledFrom([]metav1.LabelSelector{
				in("a", "b"), in("a", "a"), in(), {MatchLabels: map[string]string{"team": "c"}},
				{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "Huh"}}},
			}).Draw(t, "odd selector")
		}
		return rapid.SampledFrom([]metav1.LabelSelector{
			{MatchLabels: map[string]string{"team": "a"}}, {MatchLabels: map[string]string{"tier": "gold"}}, {}, in("b", "a"), in("b"),
			{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpDoesNotExist}}},
		}).Draw(t, "selector")
	})
	if pick(1, "selectors of namespaces") {
		a.NamespaceSelectors = rapid.SliceOfN(selector, 0, 2).Draw(t, "selectors of namespaces")
	}
	if pick(1, "selectors of services") {
		a.ServiceSelectors = rapid.SliceOfN(selector, 0, 2).Draw(t, "selectors of services")
	}
	p.Spec.AllocateTo = a
	return p
}

func drawnService(t *rapid.T) *corev1.Service {
	x, pick := &corev1.Service{}, func(n int, what string) bool { return rapid.IntRange(0, n).Draw(t, what) == 0 }
	x.Spec.Type = corev1.ServiceTypeLoadBalancer
	x.Spec.ClusterIPs = rapid.SampledFrom([][]string{{"10.96.0.1"}, {"10.96.0.1"}, {"fd96::1"}, {"10.96.0.1", "fd96::1"}, {"fd96::1", "10.96.0.1"}}).Draw(t, "cluster IPs")
	x.Spec.ClusterIP = x.Spec.ClusterIPs[0]
	policy := corev1.IPFamilyPolicySingleStack
	switch {
	case len(x.Spec.ClusterIPs) == 2:
		policy = rapid.SampledFrom([]corev1.IPFamilyPolicy{corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack}).Draw(t, "policy")
	case pick(3, "prefer"):
		policy = corev1.IPFamilyPolicyPreferDualStack
	}
	if x.Spec.IPFamilyPolicy = &policy; len(x.Spec.ClusterIPs) == 1 && pick(4, "no policy") {
		x.Spec.IPFamilyPolicy = nil
	}
	x.Annotations = map[string]string{}
	say := func(key, value string) {
		x.Annotations[rapid.SampledFrom([]string{"metallb.io/", "metallb.io/", "metallb.universe.tf/"}).Draw(t, "of")+key] = value
	}
	for range 2 { // under both names
		if !pick(2, "shares not") {
			say("allow-shared-ip", rapid.SampledFrom([]string{"k", "k", "other", ""}).Draw(t, "key"))
		}
		if pick(5, "asks for a pool") {
			say("address-pool", rapid.SampledFrom([]string{"p0", "p1", "p9", ""}).Draw(t, "pool"))
		}
		if pick(5, "asks for addresses") {
			said := rapid.SliceOfN(rapid.SampledFrom(append([]string{"", "x"}, addresses...)), 1, 2).Draw(t, "asks")
			say("loadBalancerIPs", strings.Join(said, rapid.SampledFrom([]string{",", ", "}).Draw(t, "comma")))
		}
	}
	if pick(8, "asks by field") {
		x.Spec.LoadBalancerIP = rapid.SampledFrom(addresses).Draw(t, "field")
	}
	x.Spec.Ports = []corev1.ServicePort{{Port: rapid.SampledFrom([]int32{80, 443}).Draw(t, "port"), Protocol: rapid.SampledFrom([]corev1.Protocol{"TCP", "UDP"}).Draw(t, "protocol")}}
	x.Spec.Selector = map[string]string{"app": rapid.SampledFrom([]string{"a", "b"}).Draw(t, "selector")}
	if pick(3, "local") {
		x.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	}
	if !pick(2, "has none") {
		for _, a := range rapid.SliceOfNDistinct(rapid.SampledFrom(addresses), 1, rapid.IntRange(1, 2).Draw(t, "most"), rapid.ID).Draw(t, "has") {
			x.Status.LoadBalancer.Ingress = append(x.Status.LoadBalancer.Ingress, corev1.LoadBalancerIngress{IP: a})
		}
	}
	return x
}
