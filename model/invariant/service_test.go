package invariant

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"ipamsim/model"
)

// calmServices is a cluster with two Services; one has two families.
func calmServices() *View {
	v := &View{History: &model.History{}, Past: &Past{}, Truth: model.Truth{At: sec(10)}}
	one, two, three := ip("10.96.0.1"), ip("10.96.0.2"), ip("fd00::1")
	v.Record.Services = &model.Services{
		All: []model.Service{
			{Name: "d/a", Addrs: []netip.Addr{one}, Families: []string{"IPv4"}, Ports: []model.NodePort{{Port: 30001, Protocol: "TCP"}}},
			{Name: "d/b", Addrs: []netip.Addr{two, three}, Families: []string{"IPv4", "IPv6"}, Ports: []model.NodePort{{Port: 30002, Protocol: "TCP"}}},
			{Name: "d/h", Headless: true, Families: []string{"IPv4"}},
		},
		Claims: []model.ServiceClaim{{Addr: one, Service: "d/a", Managed: true}, {Addr: two, Service: "d/b", Managed: true}, {Addr: three, Service: "d/b", Managed: true}},
		Ranges: []netip.Prefix{cidr("10.96.0.0/28"), cidr("fd00::/112")}, Ports: []int{30001, 30002}, HasPorts: true,
	}
	return v
}

// later is a number of minutes after a change, with nothing in between.
func later(minutes float64, change func(*model.Services)) func(*View) {
	return func(v *View) {
		change(v.Record.Services)
		v.Past.Note(*v)
		v.Truth.At += sec(60 * minutes)
		v.Past.Note(*v)
	}
}

func TestServices(t *testing.T) {
	for _, i := range All() {
		t.Run(i.Name, func(t *testing.T) {
			tableOf(t, calmServices, i, append(serviceRows[i.Name], row{"calm", later(60, func(*model.Services) {}), ""}))
		})
	}
}

var serviceRows = map[string][]row{
	"duplicate-cluster-ip": {
		{"two", func(v *View) { v.Record.Services.All[1].Addrs[0] = ip("10.96.0.1") }, "10.96.0.1 is the cluster IP of d/a and of d/b"},
	},
	"duplicate-node-port": {
		{"two", func(v *View) { v.Record.Services.All[1].Ports[0].Port = 30001 }, "30001 is a node port of d/a and of d/b"},
		{"two protocols", func(v *View) { v.Record.Services.All[1].Ports[0] = model.NodePort{Port: 30001, Protocol: "UDP"} }, ""},
	},
	"service-families": {
		{"one is missing", func(v *View) { v.Record.Services.All[1].Addrs = v.Record.Services.All[1].Addrs[:1] },
			"d/b has 1 cluster IPs, which are not one of each of its 2 IP families"},
		{"order", func(v *View) { v.Record.Services.All[1].Families = []string{"IPv6", "IPv4"} },
			"d/b has 2 cluster IPs, which are not one of each of its 2 IP families"},
	},
	"service-node-ports": {
		{"one is missing", func(v *View) { v.Record.Services.All[1].Unported = 1 }, "d/b has no node port for 1 of those of its ports that are to have one"},
	},
	"refused-service": {
		{"addresses", func(v *View) { v.Record.Services.Refusals = []model.Refusal{{At: sec(3), Service: "d/c", Free: 2}} },
			"d/c was refused at 3s, because the range of addresses was reported full; it never had fewer than 2 free"},
		{"node ports", func(v *View) {
			v.Record.Services.Refusals = []model.Refusal{{At: sec(3), Service: "d/c", Free: 2, Ports: true}}
		}, "d/c was refused at 3s, because the range of node ports was reported full; it never had fewer than 2 free"},
		{"an address is said to be allocated", func(v *View) {
			v.Record.Services.Refusals = []model.Refusal{{At: sec(3), Service: "d/c", Free: 2, Allocated: true}}
		}, "d/c was refused at 3s, because an address was reported allocated; it requests none that was, and the range never had fewer than 2 free"},
		{"a node port is", func(v *View) {
			v.Record.Services.Refusals = []model.Refusal{{At: sec(3), Service: "d/c", Free: 2, Allocated: true, Ports: true}}
		}, "d/c was refused at 3s, because a node port was reported allocated; it requests none that was, and the range never had fewer than 2 free"},
		{"full", func(v *View) { v.Record.Services.Refusals = []model.Refusal{{At: sec(3), Service: "d/c"}} }, ""},
	},
	"unbacked-service": {
		{"no IPAddress", later(2, func(s *model.Services) { s.Claims = s.Claims[1:] }), "10.96.0.1, the cluster IP of d/a, has had no IPAddress since 10s"},
		{"another's", later(2, func(s *model.Services) { s.Claims[0].Service = "d/gone" }),
			"10.96.0.1, the cluster IP of d/a, has had an IPAddress of d/gone since 10s, which does not have that cluster IP"},
		{"node port", later(2, func(s *model.Services) { s.Ports = s.Ports[1:] }), "30001, a node port of d/a, has been marked as free since 10s"},
		{"for a moment", later(.5, func(s *model.Services) { s.Claims = s.Claims[1:] }), ""},
		{"out of every range", later(2, func(s *model.Services) { s.Claims, s.Ranges = s.Claims[1:], s.Ranges[1:] }), ""},
		{"no bitmap yet", later(2, func(s *model.Services) { s.Ports, s.HasPorts = nil, false }), ""},
	},
	"leaked-service-claim": {
		{"IPAddress", later(30, func(s *model.Services) {
			s.Claims = append(s.Claims[:2:2], model.ServiceClaim{Addr: ip("10.96.0.3"), Service: "d/gone", Managed: true}, s.Claims[2])
		}), "10.96.0.3 has had an IPAddress of d/gone since 10s, which does not have that cluster IP"},
		{"node port", later(19, func(s *model.Services) { s.Ports = append(s.Ports, 30003) }),
			"30003 has been marked as allocated since 10s, and no Service has that node port"},
		{"somebody else's", later(60, func(s *model.Services) {
			s.Claims = append(s.Claims[:2:2], model.ServiceClaim{Addr: ip("10.96.0.3")}, s.Claims[2])
		}), ""},
		{"within the bound", later(7, func(s *model.Services) { s.Ports = append(s.Ports, 30003) }), ""},
	},
}

// calmBalancers is a cluster with two Services of type LoadBalancer, which have all they
// ask for, and were served long ago.
func calmBalancers() *View {
	v := &View{History: &model.History{}, Past: &Past{balanced: map[balancedFamily]netip.Addr{{"lb-a", "IPv4"}: ip("10.9.0.0")}}, Truth: model.Truth{At: sec(3600)}}
	one, two := ip("10.9.0.0"), ip("10.9.0.1")
	v.Record.Services = &model.Services{All: []model.Service{
		{Name: "d/a", Balancer: &model.Balancer{Families: []string{"IPv4"}, Addrs: []netip.Addr{one}, Handle: "lb-a"}},
		{Name: "d/b", Balancer: &model.Balancer{Families: []string{"IPv4"}, Addrs: []netip.Addr{two}, Handle: "lb-b"}},
	}}
	v.Record.Claims = []model.Claim{{Addr: one, Handle: "lb-a", Service: "d/a"}, {Addr: two, Handle: "lb-b", Service: "d/b"}}
	v.Networks = []model.Network{{Blocks: &model.BlockPolicy{AutoAllocate: true, Pools: []model.IPPool{{Prefix: cidr("10.9.0.0/30"), LoadBalancers: true}}}}}
	return v
}

func balancer(v *View, i int) *model.Balancer { return v.Record.Services.All[i].Balancer }

// port80 are the terms of one port, shared by Services with the key.
func port80(key string) model.Terms {
	return model.Terms{Key: key, Ports: []model.NodePort{{Port: 80, Protocol: "TCP"}}}
}

// onTerms gives the second Service the first one's address.
func onTerms(a model.Terms, b ...model.Terms) func(*View) {
	return func(v *View) {
		balancer(v, 1).Addrs = balancer(v, 0).Addrs
		balancer(v, 0).Terms, balancer(v, 1).Terms = []model.Terms{a}, b
	}
}

// asksFor has a Service without an address ask for one of certain prefixes.
func asksFor(v *View, of ...string) {
	b := balancer(v, 0)
	b.Addrs, b.From, v.Record.Claims = nil, map[string][]netip.Prefix{"IPv4": nil}, v.Record.Claims[1:]
	for _, p := range of {
		b.From["IPv4"] = append(b.From["IPv4"], cidr(p))
	}
}

// Only the oracles of load balancers' addresses look at them.
func TestLoadBalancers(t *testing.T) {
	for name, rows := range balancerRows {
		i, ok := Named(name)
		if !ok {
			t.Fatal(name)
		}
		t.Run(name, func(t *testing.T) { tableOf(t, calmBalancers, i, append(rows, row{"calm", func(*View) {}, ""})) })
	}
}

var balancerRows = map[string][]row{
	"duplicate-load-balancer-ip": {
		{"one address", func(v *View) { balancer(v, 1).Addrs = balancer(v, 0).Addrs }, "10.9.0.0 is the load balancer's address of d/a and of d/b"},
		{"shared", onTerms(port80("k"), model.Terms{Key: "k", Ports: []model.NodePort{{Port: 80, Protocol: "UDP"}}}), ""},
		{"one port", onTerms(port80("k"), port80("k")), "10.9.0.0 is the load balancer's address of d/a and of d/b"},
		{"two keys", onTerms(port80("k"), model.Terms{Key: "other"}), "10.9.0.0 is the load balancer's address of d/a and of d/b"},
		{"no key", onTerms(port80(""), model.Terms{}), "10.9.0.0 is the load balancer's address of d/a and of d/b"},
		{"two backends", onTerms(port80("k"), model.Terms{Key: "k", Backend: "app=b"}), "10.9.0.0 is the load balancer's address of d/a and of d/b"},
		{"on earlier terms", onTerms(port80("k"), port80("k"), model.Terms{Key: "k"}), ""},
	},
	"surplus-load-balancer-ip": {
		{"two addresses", func(v *View) { balancer(v, 0).Addrs = []netip.Addr{ip("10.9.0.0"), ip("10.9.0.3")} },
			"d/a has 2 IPv4 addresses of its load balancer, and asks for 1: 10.9.0.0, 10.9.0.3"},
		{"one of each family", func(v *View) {
			balancer(v, 0).Addrs, balancer(v, 0).Families = []netip.Addr{ip("10.9.0.0"), ip("fd00::1")}, []string{"IPv4", "IPv6"}
		}, ""},
	},
	"unserved-load-balancer": {
		{"not in its status", func(v *View) { balancer(v, 0).Addrs = nil }, "after convergence 10.9.0.0 is claimed for d/a, whose status does not show it"},
		{"a moment ago", func(v *View) {
			balancer(v, 0).Addrs = nil
			v.History.Add(model.Event{Kind: model.Operator, At: v.Truth.At - sec(60)})
		}, ""},
		{"a round ago", func(v *View) {
			balancer(v, 0).Addrs = nil
			v.History.Add(model.Event{Kind: model.Operator, At: v.Truth.At - balancerRound - sec(1)})
		}, "after convergence 10.9.0.0 is claimed for d/a, whose status does not show it"},
		{"a round ago, and messages are late", func(v *View) {
			balancer(v, 0).Addrs, v.Late = nil, v.Truth.At-sec(1)
			v.History.Add(model.Event{Kind: model.Operator, At: v.Truth.At - balancerRound - sec(1)})
		}, ""},
		{"somebody serves, and never has", func(v *View) {
			balancer(v, 0).Addrs, v.Past.balanced, v.Record.Services.Balancing, v.Record.Claims = nil, nil, true, v.Record.Claims[1:]
		}, "after convergence d/a has no IPv4 address, with 3 free"},
		{"its second family", func(v *View) {
			b := balancer(v, 0)
			b.Families, b.Free = []string{"IPv4", "IPv6"}, 2
		}, "after convergence d/a has no IPv6 address, with 2 free"},
		{"nobody serves", func(v *View) { balancer(v, 0).Addrs, v.Past.balanced = nil, nil }, ""},
		{"no address", func(v *View) { balancer(v, 0).Addrs, v.Record.Claims = nil, v.Record.Claims[1:] },
			"after convergence d/a has no IPv4 address (it had 10.9.0.0), with 3 free"},
		{"the pool is full", func(v *View) {
			balancer(v, 0).Addrs, v.Record.Claims = nil, v.Record.Claims[1:]
			v.Networks[0].Blocks.Reserved = []netip.Prefix{cidr("10.9.0.0/32"), cidr("10.9.0.2/31")}
		}, ""},
		{"its manager would have one", func(v *View) {
			balancer(v, 0).Addrs, balancer(v, 0).Free, v.Record.Claims, v.Networks = nil, 2, v.Record.Claims[1:], nil
		}, "after convergence d/a has no IPv4 address (it had 10.9.0.0), with 2 free"},
		{"it asks for one that is free", func(v *View) { asksFor(v, "10.9.0.3/32") }, "after convergence d/a has no IPv4 address (it had 10.9.0.0), with 1 free"},
		{"it asks for one that is not", func(v *View) { asksFor(v, "10.9.0.1/32") }, ""},
		{"it asks for one of nobody", func(v *View) { asksFor(v, "10.8.0.1/32") }, ""},
		{"it asks for one of two families, and one is taken", func(v *View) {
			asksFor(v, "10.9.0.1/32")
			balancer(v, 0).Families = []string{"IPv6", "IPv4"}
			v.Networks[0].Blocks.Pools = append(v.Networks[0].Blocks.Pools, model.IPPool{Prefix: cidr("fd00::/120"), LoadBalancers: true})
		}, ""},
		{"it asks for a manual pool", func(v *View) {
			asksFor(v, "10.9.0.0/30")
			v.Networks[0].Blocks.Pools[0].Manual = true
		}, "after convergence d/a has no IPv4 address (it had 10.9.0.0), with 3 free"},
		{"it asks for another pool", func(v *View) { asksFor(v, "10.8.0.0/30") }, ""},
		{"it cannot be told what it asks for", func(v *View) { asksFor(v) }, ""},
	},
	"disallowed-load-balancer-ip": {
		{"kept", func(v *View) { balancer(v, 0).Disallowed = true }, "after convergence d/a still has 10.9.0.0, which it would not be given now"},
		{"a moment ago", func(v *View) {
			balancer(v, 0).Disallowed = true
			v.History.Add(model.Event{Kind: model.Operator, At: v.Truth.At - sec(60)})
		}, ""},
	},
	"pool-status": {
		{"it is right", func(v *View) {
			v.Record.Services.Pools = []model.PoolStatus{{Pool: "p", Family: "IPv4", Assigned: 2, Free: 1, Used: 2, Unused: 1}}
		}, ""},
		{"one too many", func(v *View) {
			v.Record.Services.Pools = []model.PoolStatus{{Pool: "p", Family: "IPv4", Assigned: 3, Free: 1, Used: 2, Unused: 1}}
		}, "after convergence the status of pool p reports 3 IPv4 addresses assigned and 1 free; in fact 2 are assigned and 1 free"},
		{"one too few are free", func(v *View) {
			v.Record.Services.Pools = []model.PoolStatus{{Pool: "p", Family: "IPv6", Assigned: 2, Used: 2, Unused: 1}}
		}, "after convergence the status of pool p reports 2 IPv6 addresses assigned and 0 free; in fact 2 are assigned and 1 free"},
		{"very many", func(v *View) {
			v.Record.Services.Pools = []model.PoolStatus{{Pool: "p", Family: "IPv6", Assigned: 2, Free: 1 << 62, Used: 2, Unused: 1 << 30}}
		}, ""},
		{"a moment ago", func(v *View) {
			v.Record.Services.Pools = []model.PoolStatus{{Pool: "p", Family: "IPv4", Used: 1}}
			v.History.Add(model.Event{Kind: model.Operator, At: v.Truth.At - sec(60)})
		}, ""},
	},
	"config-status": {
		{"it is right", func(v *View) {
			v.Record.Services.Config = &model.ConfigStatus{Name: "c", Says: model.ConfigInvalid, Why: "two pools overlap"}
		}, ""},
		{"it does not say why", func(v *View) { v.Record.Services.Config = &model.ConfigStatus{Name: "c", Says: model.ConfigInvalid} },
			"after convergence the configuration is invalid, but the status of c gives no reason"},
		{"it is not", func(v *View) { v.Record.Services.Config = &model.ConfigStatus{Name: "c", Says: model.ConfigValid} },
			"after convergence the configuration is invalid, but the status of c reports Valid"},
		{"it says nothing", func(v *View) {
			v.Record.Services.Config = &model.ConfigStatus{Name: "c", Says: model.ConfigUnknown, Valid: true}
		}, "after convergence the configuration is valid, but the status of c reports Unknown"},
		{"a moment ago", func(v *View) {
			v.Record.Services.Config = &model.ConfigStatus{Name: "c", Says: model.ConfigValid}
			v.History.Add(model.Event{Kind: model.Operator, At: v.Truth.At - sec(60)})
		}, ""},
	},
	"leaked-load-balancer-ip": {
		{"gone", func(v *View) { v.Record.Services.All = v.Record.Services.All[1:] }, "after convergence 10.9.0.0 is still claimed for d/a, which is gone or asks for none"},
		{"made again", func(v *View) { balancer(v, 0).Handle = "lb-a2" }, "after convergence 10.9.0.0 is still claimed for d/a, which is gone or asks for none"},
	},
}

// Each cluster IP lies in a ServiceCIDR that there was when a Service was given it.
func TestClusterIPOutside(t *testing.T) {
	give := func(addr string) func(*View) {
		return func(v *View) {
			s := v.Record.Services
			all := slices.Clone(s.All)
			all = append(all, model.Service{Name: "d/z", Addrs: []netip.Addr{ip(addr)}, Families: []string{"IPv6"}})
			changed := *s
			changed.All = all
			v.Record.Services = &changed
		}
	}
	ranges := func(p ...netip.Prefix) func(*View) {
		return func(v *View) {
			changed := *v.Record.Services
			changed.Ranges = p
			v.Record.Services = &changed
		}
	}
	later := func(v *View) { v.Truth.At += cidrHeard + time.Second }
	of := cidr("fd22:ff0::/64")
	for _, c := range []struct {
		name  string
		steps []func(*View)
		want  string
	}{
		{"below the range", []func(*View){ranges(of), give("fd22:fef:ffff:ffff::1")}, "d/z was given fd22:fef:ffff:ffff::1 at 1m3s, outside every ServiceCIDR"},
		{"the range is gone for long", []func(*View){ranges(of), ranges(cidr("10.0.0.0/24")), later, give("fd22:ff0::1")}, "d/z was given fd22:ff0::1 at 11m6s, outside every ServiceCIDR"},
		{"in the range", []func(*View){ranges(of), give("fd22:ff0::1")}, ""},
		{"the range is deleted then", []func(*View){ranges(of), give("fd22:ff0::1"), later, ranges(cidr("10.0.0.0/24"))}, ""},
		{"the range has just been deleted", []func(*View){ranges(of), ranges(cidr("10.0.0.0/24")), give("fd22:ff0::1")}, ""},
		{"there is no record of ranges", []func(*View){ranges(), give("fd22:ff0::1")}, ""},
	} {
		v := calm()
		v.Record.Services, v.Past = &model.Services{}, &Past{}
		v.Past.Note(*v)
		steps(v, append([]func(*View){func(*View) {}}, c.steps...)...)
		found := OutOfPool.Check(*v)
		switch {
		case len(found) > 1 || (len(found) == 1) != (c.want != ""):
			t.Errorf("%s: %d findings", c.name, len(found))
		case len(found) == 1:
			judgedAs(t, OutOfPool, found[0].Code)
			if got := OutOfPool.Say(&found[0]); got != c.want {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
		}
	}
}
