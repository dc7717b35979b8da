package invariant

import (
	"fmt"
	"net/netip"
	"testing"

	"ipamsim/model"
)

// Each of very many holders of one address is named, without a finding for every pair.
func TestDuplicateAddressOfMany(t *testing.T) {
	const n = 200
	v := calm()
	for i := range n {
		start(v, fmt.Sprint(i+10), "node-1", fmt.Sprint("d", i), netA, "10.0.0.9")
	}
	found := DuplicateAddress.Check(*v)
	named := map[string]bool{}
	for i := range found {
		for _, o := range found[i].Objects {
			named[o.String()] = true
		}
	}
	for i := range n {
		if !named[fmt.Sprintf("pod default/web-%d", i+10)] {
			t.Errorf("web-%d is not named", i+10)
		}
	}
	if len(found) > pairsMax*n {
		t.Errorf("%d findings of %d holders", len(found), n)
	}
}

func TestDuplicateAddress(t *testing.T) {
	table(t, DuplicateAddress, []row{
		{"one network", func(v *View) { start(v, "2", "node-2", "c2", netA, "10.0.0.1").Attachments[0].Since = sec(72.5) },
			"10.0.0.1 in network default/a is held by two live sandboxes: default/web-0 on node-1 since 10s, and default/web-2 on node-2 since 1m12.5s"},
		{"the older one first", func(v *View) { start(v, "2", "node-2", "c2", netA, "10.0.0.1").Attachments[0].Since = sec(4) },
			"10.0.0.1 in network default/a is held by two live sandboxes: default/web-2 on node-2 since 4s, and default/web-0 on node-1 since 10s"},
		{"one pod name: a partitioned node keeps the old one", func(v *View) { start(v, "0", "node-2", "c2", netA, "10.0.0.1") },
			"10.0.0.1 in network default/a is held by two live sandboxes: default/web-0 on node-1 since 10s, and default/web-0 on node-2 since 10s"},
		{"one pod name, overlapping ranges", func(v *View) { start(v, "0", "node-2", "c2", netB, "10.0.0.1") },
			"10.0.0.1 in networks default/a and default/b is held by two live sandboxes: default/web-0 on node-1 since 10s, and default/web-0 on node-2 since 10s"},
		{"stopped, overlapping ranges", func(v *View) {
			start(v, "2", "node-2", "c2", netB, "10.0.0.1")
			v.Truth.Sandboxes[0].Stopped = true
		}, "10.0.0.1 in networks default/a and default/b is held by two sandboxes, one stopped and waiting for a DEL that succeeds: " +
			"default/web-0 on node-1 since 10s, and default/web-2 on node-2 since 10s"},
		{"overlapping ranges, both guarded", func(v *View) { start(v, "2", "node-2", "c2", netB, "10.0.0.1") },
			"10.0.0.1 in networks default/a and default/b is held by two live sandboxes: default/web-0 on node-1 since 10s, and default/web-2 on node-2 since 10s"},
		{"one pool, guarded by one network only", func(v *View) { start(v, "2", "node-2", "c2", netC, "10.0.0.1") },
			"10.0.0.1 in networks default/a and default/c is held by two live sandboxes: default/web-0 on node-1 since 10s, and default/web-2 on node-2 since 10s"},
		{"a network without policy", func(v *View) {
			start(v, "2", "node-1", "c2", "default/x", "10.3.0.1")
			start(v, "3", "node-1", "c3", "default/x", "10.3.0.1")
		}, "10.3.0.1 in network default/x is held by two live sandboxes: default/web-2 on node-1 since 10s, and default/web-3 on node-1 since 10s"},

		{"a virtual machine migrates: by its claim the address is of both pods", func(v *View) {
			start(v, "2", "node-2", "c2", netA, "10.0.0.1")
			v.Record.Claims[0].Alternate = web("2")
		}, ""},
		{"a virtual machine migrates, and a third pod has its address", func(v *View) {
			start(v, "2", "node-2", "c2", netA, "10.0.0.1")
			v.Record.Claims[0].Alternate = web("3")
		}, "10.0.0.1 in network default/a is held by two live sandboxes: default/web-0 on node-1 since 10s, and default/web-2 on node-2 since 10s"},
		{"each node has a wire of its own", func(v *View) {
			v.Networks[0].Local = true
			start(v, "2", "node-2", "c2", netA, "10.0.0.1")
		}, ""},
		{"each node has a wire of its own: one node", func(v *View) {
			v.Networks[0].Local = true
			start(v, "2", "node-1", "c2", netA, "10.0.0.1")
		}, "10.0.0.1 in network default/a is held by two live sandboxes: default/web-0 on node-1 since 10s, and default/web-2 on node-1 since 10s"},
		{"another network_name", func(v *View) { start(v, "2", "node-2", "c2", netD, "10.0.0.1") }, ""},
		{"overlapping ranges, one not guarded", func(v *View) {
			v.Networks[1].Overlap = false
			start(v, "2", "node-2", "c2", netB, "10.0.0.1")
		}, ""},
		{"equal ranges that the address is not in", func(v *View) {
			v.Networks[2].Ranges = append(v.Networks[2].Ranges, within("10.4.0.0/16", "10.4.0.1", "10.4.0.9")...)
			v.Networks[1].Overlap = false
			start(v, "2", "node-2", "c2", netB, "10.4.0.1")
			start(v, "3", "node-2", "c3", netC, "10.4.0.1")
		}, ""},
		{"a DEL is under way: its containers have ended", func(v *View) {
			start(v, "2", "node-2", "c2", netA, "10.0.0.1")
			busy(v, "c0", "0", "node-1", true, sec(59))
		}, ""},
		{"a DEL goes on after the address was given to another", func(v *View) {
			start(v, "2", "node-2", "c2", netA, "10.0.0.1").Attachments[0].Since = sec(12)
			busy(v, "c0", "0", "node-1", true, sec(11))
		}, "10.0.0.1 in network default/a is held by two sandboxes, and the DEL of one has been under way for long: " +
			"default/web-0 on node-1 since 10s, and default/web-2 on node-2 since 12s"},
		{"a DEL goes on, overlapping ranges", func(v *View) {
			start(v, "2", "node-2", "c2", netB, "10.0.0.1").Attachments[0].Since = sec(12)
			busy(v, "c0", "0", "node-1", true, sec(11))
		}, "10.0.0.1 in networks default/a and default/b is held by two sandboxes, and the DEL of one has been under way for long: " +
			"default/web-0 on node-1 since 10s, and default/web-2 on node-2 since 12s"},
		{"a DEL hangs on a node that is cut off", func(v *View) {
			start(v, "2", "node-2", "c2", netA, "10.0.0.1")
			busy(v, "c0", "0", "node-1", true, sec(59))
			v.Truth.Sandboxes[0].Stopped = true
			v.Truth.Nodes["node-1"] = model.Node{Registered: true, Up: true, Partitioned: true}
		}, "10.0.0.1 in network default/a is held by two sandboxes, one stopped and waiting for a DEL that succeeds: " +
			"default/web-0 on node-1 since 10s, and default/web-2 on node-2 since 10s"},
		{"its containers have ended and its DEL has failed", func(v *View) {
			start(v, "2", "node-2", "c2", netA, "10.0.0.1")
			v.Truth.Sandboxes[0].Stopped = true
		}, "10.0.0.1 in network default/a is held by two sandboxes, one stopped and waiting for a DEL that succeeds: " +
			"default/web-0 on node-1 since 10s, and default/web-2 on node-2 since 10s"},
		{"static addresses", func(v *View) {
			s := start(v, "2", "node-2", "c2", netA)
			s.Attachments[0].Static = append(s.Attachments[0].Static, ip("10.0.0.1"))
		}, ""},
		{"one sandbox on two networks of one wire", func(v *View) { twice(v, netB) },
			"10.0.0.1 in networks default/a and default/b is held twice by one live sandbox: default/web-0 on node-1, net1 since 10s and net2 since 30s"},

		{"two interfaces of one sandbox on one network", func(v *View) { twice(v, netA) },
			"10.0.0.1 in network default/a is held twice by one live sandbox: default/web-0 on node-1, net1 since 10s and net2 since 30s"},

		{"one sandbox on two networks of two wires", func(v *View) { twice(v, netD) }, ""},
		{"two interfaces of one sandbox on one network, with an address each", func(v *View) {
			twice(v, netA)
			v.Truth.Sandboxes[0].Attachments[1].Addrs = []netip.Addr{ip("10.0.0.3")}
		}, ""},
		{"a node has it", func(v *View) { taken(v, "10.0.0.1/32", model.Ref{Kind: model.RefNode, Name: "node-2"}, netA) },
			"10.0.0.1 in network default/a is held by a live sandbox, default/web-0 on node-1 since 10s, and is the own address of node node-2: it lies in 10.0.0.0/28, which the manager gives away"},
		{"a Service has it", func(v *View) { taken(v, "10.0.0.1/32", model.ServiceOf("default/web"), netA) },
			"10.0.0.1 in network default/a is held by a live sandbox, default/web-0 on node-1 since 10s, and is an address of Service default/web: it lies in 10.0.0.0/28, which the manager gives away"},
		{"it is in a ServiceCIDR", func(v *View) { taken(v, "10.0.0.0/31", model.Ref{Kind: model.RefRange, Name: "kubernetes"}, netA) },
			"10.0.0.1 in network default/a is held by a live sandbox, default/web-0 on node-1 since 10s, and is in ServiceCIDR kubernetes, which gives it to a Service as well: it lies in 10.0.0.0/28, which the manager gives away"},
		{"it is one of Services", func(v *View) { taken(v, "10.0.0.0/31", model.Ref{Kind: model.RefOutside, Name: "Services"}, netA) },
			"10.0.0.1 in network default/a is held by a live sandbox, default/web-0 on node-1 since 10s, and is in use by Services, which is no pod: it lies in 10.0.0.0/28, which the manager gives away"},
		{"a node has it, a DEL is under way", func(v *View) {
			taken(v, "10.0.0.1/32", model.Ref{Kind: model.RefNode, Name: "node-2"}, netA)
			busy(v, "c0", "0", "node-1", true, sec(59))
		}, ""},
		{"it is taken on another network", func(v *View) { taken(v, "10.0.0.1/32", model.Ref{Kind: model.RefOutside, Name: "gateway"}, netB) }, ""},
		{"another address is taken", func(v *View) { taken(v, "10.0.0.9/32", model.Ref{Kind: model.RefOutside, Name: "gateway"}, netA) }, ""},
		{"one interface, told twice", func(v *View) {
			s := &v.Truth.Sandboxes[0]
			s.Attachments = append(s.Attachments, s.Attachments[0])
		}, ""},
	})
}

// On layer 3 a sandbox has its address while its node has a route to it: until the node learns that
// the pod has ended, or has run a DEL.
func TestDuplicateOnLayer3(t *testing.T) {
	const twice = "10.0.0.1 in network default/a is held by two live sandboxes: default/web-0 on node-1 since 10s, and default/web-2 on node-2 since 10s"
	again := func(pods bool, change func(v *View)) func(v *View) {
		return func(v *View) {
			v.Networks[0].Blocks = &model.BlockPolicy{V4: true, PodRoutes: pods}
			start(v, "2", "node-2", "c2", netA, "10.0.0.1")
			change(v)
		}
	}
	gone := func(v *View) { delete(v.Truth.Pods, web("0")) }
	phase := func(v *View) {
		p := v.Truth.Pods[web("0")]
		p.Phase = "Succeeded"
		v.Truth.Pods[web("0")] = p
	}
	table(t, DuplicateAddress, []row{
		{"both pods are there", again(true, func(*View) {}), twice},
		{"one pod is gone", again(true, gone), ""},
		{"one pod has finished", again(true, phase), ""},
		{"one pod is gone, and another has its name", again(true, func(v *View) {
			v.Truth.Pods[web("0")] = model.Pod{UID: "another", Node: "node-1", Phase: "Pending"}
		}), ""},
		{"one pod is gone, and its node has not heard", again(true, func(v *View) {
			gone(v)
			v.Truth.Nodes["node-1"] = model.Node{Registered: true, Up: true, Partitioned: true}
		}), twice},
		{"endpoints of their own: one pod is gone", again(false, gone), twice},
		{"a DEL is under way, however long", again(false, func(v *View) { busy(v, "c0", "0", "node-1", true, sec(11)) }), ""},
	})
}

// taken assigns a range of addresses to something other than a pod.
func taken(v *View, r string, by model.Ref, network string) {
	v.Truth.Taken = append(v.Truth.Taken, model.Taken{Range: netip.MustParsePrefix(r), By: by, Network: network})
}

// twice gives the first sandbox its address also on a second network.
func twice(v *View, network string) {
	s := &v.Truth.Sandboxes[0]
	a := s.Attachments[0]
	a.Network, a.Interface, a.Since = network, "net2", sec(30)
	s.Attachments = append(s.Attachments, a)
}

func TestDuplicateOfThree(t *testing.T) {
	v := calm()
	start(v, "2", "node-2", "c2", netA, "10.0.0.1")
	start(v, "3", "node-2", "c3", netA, "10.0.0.1")
	if got := DuplicateAddress.Check(*v); len(got) != 3 {
		t.Errorf("three sandboxes make three pairs, have %v", got)
	}
}

func TestUnbackedSandbox(t *testing.T) {
	const red = "default/web-0 on node-1 has 10.0.0.1 in network default/a since 10s, but no claim records it: another pod can get it"
	table(t, UnbackedSandbox, []row{
		{"no claim", func(v *View) { unclaim(v, "10.0.0.1") }, red},
		{"no claim, and its containers have ended", func(v *View) {
			unclaim(v, "10.0.0.1")
			v.Truth.Sandboxes[0].Stopped = true
		}, ""},
		{"claimed for the other pod of a virtual machine that migrates", func(v *View) {
			unclaim(v, "10.0.0.1")
			claim(v, "10.0.0.0-28", "10.0.0.1", "5", "")
			v.Record.Claims[len(v.Record.Claims)-1].Alternate = web("0")
		}, ""},
		{"claimed for somebody else", func(v *View) {
			unclaim(v, "10.0.0.1")
			claim(v, "10.0.0.0-28", "10.0.0.1", "1", "c1")
		}, red},
		{"claimed in another network's pool", func(v *View) {
			unclaim(v, "10.0.0.1")
			claim(v, "10.0.0.0-27", "10.0.0.1", "0", "c0")
		}, red},
		{"claimed under another network_name", func(v *View) {
			unclaim(v, "10.0.0.1")
			claim(v, "d-10.0.0.0-28", "10.0.0.1", "0", "c0")
		}, red},
		{"claimed in a pool that is gone", func(v *View) { v.Record.Claims[0].Pool = "gone" }, red},
		{"an ADD is under way for the second network", func(v *View) {
			unclaim(v, "10.0.0.1")
			busy(v, "c0", "0", "node-1", false, sec(59))
		}, red},
		{"claimed for a namesake that lives", func(v *View) {
			v.Record.Claims[0].Container = "c2"
			start(v, "0", "node-2", "c2", "default/x")
		}, "default/web-0 on node-1 has 10.0.0.1 in network default/a since 10s, but the claim is for container c2 of a pod of that name: another pod can get it"},
		{"claimed for another interface of the pod", func(v *View) { v.Record.Claims[0].Interface = "net2" }, red},
		{"its node is cut off", func(v *View) {
			unclaim(v, "10.0.0.1")
			v.Truth.Nodes["node-1"] = model.Node{Up: true, Partitioned: true}
		}, red},

		{"claimed by another container of the pod", func(v *View) { v.Record.Claims[0].Container = "older" }, ""},
		{"claimed for an interface that the record does not name", func(v *View) { v.Record.Claims[0].Interface = "" }, ""},
		{"claimed by the container under another pod name", func(v *View) { v.Record.Claims[0].Pod = web("x") }, ""},
		{"a DEL is under way", func(v *View) {
			unclaim(v, "10.0.0.1")
			busy(v, "c0", "0", "node-1", true, sec(59))
		}, ""},
		{"network c shares a's pool", func(v *View) { v.Truth.Sandboxes[0].Attachments[0].Network = netC }, ""},
		{"a node slice inside the range", func(v *View) {
			v.Record.Pools = append(v.Record.Pools, model.Pool{Name: "s1", Range: cidr("10.9.0.64/26"), Node: "node-1"})
			start(v, "2", "node-1", "c2", netS, "10.9.0.65")
			claim(v, "s1", "10.9.0.65", "2", "c2")
		}, ""},
		{"a network without policy", func(v *View) { start(v, "2", "node-1", "c2", "default/x", "10.3.0.1") }, ""},
	})
}

func TestOutOfPool(t *testing.T) {
	table(t, OutOfPool, []row{
		{"outside the prefix", func(v *View) { start(v, "2", "node-2", "c2", netA, "10.0.0.16") },
			"default/web-2 on node-2 has 10.0.0.16 since 10s, outside every range of network default/a"},
		{"inside the prefix, after the end", func(v *View) { start(v, "2", "node-2", "c2", netA, "10.0.0.15") },
			"default/web-2 on node-2 has 10.0.0.15 since 10s, outside every range of network default/a"},
		{"inside the prefix, before the start", func(v *View) { start(v, "2", "node-2", "c2", netA, "10.0.0.0") },
			"default/web-2 on node-2 has 10.0.0.0 since 10s, outside every range of network default/a"},
		{"of the other family", func(v *View) { start(v, "2", "node-2", "c2", netA, "fd00::1") },
			"default/web-2 on node-2 has fd00::1 since 10s, outside every range of network default/a"},

		{"the first and the last", func(v *View) { start(v, "2", "node-2", "c2", netA, "10.0.0.14", "10.0.0.1") }, ""},
		{"excluded, which is another matter", func(v *View) { start(v, "2", "node-2", "c2", netA, "10.0.0.9") }, ""},
		{"a second range", func(v *View) {
			v.Networks[0].Ranges = append(v.Networks[0].Ranges, within("fd00::/64", "fd00::1", "fd00::ff")...)
			start(v, "2", "node-2", "c2", netA, "10.0.0.3", "fd00::ff")
		}, ""},
		{"any slice of the range", func(v *View) { start(v, "2", "node-2", "c2", netS, "10.9.0.200") }, ""},
		{"static", func(v *View) {
			a := &start(v, "2", "node-2", "c2", netA).Attachments[0]
			a.Static = append(a.Static, ip("192.0.2.1"))
		}, ""},
	})
}

// The ranges that nodes are given when they join.
func TestSliceOutsideRanges(t *testing.T) {
	give := func(range_, given string) func(*View) {
		return func(v *View) {
			r := model.Range{Prefix: cidr(range_), Slice: 26}
			v.Networks = append(v.Networks, model.Network{Key: "pods", Name: "pods", Ranges: []model.Range{r}, Slice: r.Slice})
			v.Record.Pools = append(v.Record.Pools, model.Pool{Name: "n", Network: "pods", Node: "node-1", Range: cidr(given)})
		}
	}
	table(t, OutOfPool, []row{
		{"elsewhere", give("10.20.0.0/24", "10.21.0.0/26"), "node-1 has 10.21.0.0/26, outside every range of network pods"},
		{"wider than all", give("10.20.0.0/24", "10.20.0.0/20"), "node-1 has 10.20.0.0/20, outside every range of network pods"},
		{"inside", give("10.20.0.0/24", "10.20.0.64/26"), ""},
		{"inside, and wider than the others", give("10.20.0.0/24", "10.20.0.128/25"), ""},
		{"of networks whose nodes take slices themselves", func(v *View) {
			v.Record.Pools = append(v.Record.Pools, model.Pool{Name: "n", Node: "node-1", Range: cidr("10.21.0.0/26")})
		}, ""},
	})
}

func TestExcludedAddress(t *testing.T) {
	table(t, ExcludedAddress, []row{
		{"inside an exclude", func(v *View) { start(v, "2", "node-2", "c2", netA, "10.0.0.11") },
			"default/web-2 on node-2 has 10.0.0.11 since 10s, which network default/a excludes (10.0.0.8/30)"},

		{"just below", func(v *View) { start(v, "2", "node-2", "c2", netA, "10.0.0.7") }, ""},
		{"just above", func(v *View) { start(v, "2", "node-2", "c2", netA, "10.0.0.12") }, ""},
		{"another network does not exclude it", func(v *View) { start(v, "2", "node-2", "c2", netC, "10.0.0.9") }, ""},
		{"another range of the network allows it", func(v *View) {
			v.Networks[0].Ranges = append(v.Networks[0].Ranges, v.Networks[1].Ranges...)
			start(v, "2", "node-2", "c2", netA, "10.0.0.9")
		}, ""},
		{"outside, which is another matter", func(v *View) { start(v, "2", "node-2", "c2", netA, "10.0.0.99") }, ""},
	})
}
