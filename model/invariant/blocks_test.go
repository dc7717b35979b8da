package invariant

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ipamsim/model"
)

// netK is a network with blocks of 64 addresses out of 10.7.0.0/24.
const netK = "kube-system/k8s-pod-network"

// calmBlocks is a cluster in order after one minute: two blocks each for node-1
// and node-2, the second one empty, and a pod on each; node-1 has an
// address for its tunnel as well.
func calmBlocks() *View {
	nodes := []string{"node-1", "node-2", "node-3"}
	v := &View{
		Networks: []model.Network{{
			Key: netK, Ranges: within("10.7.0.0/16", "10.7.0.0", "10.7.255.255"),
			Blocks: &model.BlockPolicy{
				Pools: []model.IPPool{{Name: "pool", Prefix: cidr("10.7.0.0/24"), BlockBits: 26, Workloads: true, Tunnels: true, Nodes: nodes}},
				V4:    true, AutoAllocate: true, MaxBlocks: 20,
			},
		}},
		Truth: model.Truth{
			At: sec(60), Pods: map[model.PodRef]model.Pod{}, Nodes: map[string]model.Node{}, Busy: map[string]model.Busy{},
		},
		History:  &model.History{},
		Settings: Settings{LeakAfter: sec(30), StuckAfter: sec(30)},
	}
	for _, n := range nodes {
		v.Truth.Nodes[n] = model.Node{Up: true, Registered: true}
	}
	block(v, "10.7.0.0/26", "node-1", model.Confirmed)
	block(v, "10.7.0.64/26", "node-2", model.Confirmed)
	block(v, "10.7.0.128/26", "node-1", model.Confirmed)
	block(v, "10.7.0.192/26", "node-2", model.Confirmed)
	attach(v, "0", "node-1", "10.7.0.1")
	attach(v, "1", "node-2", "10.7.0.65")
	tunnel(v, "node-1", "10.7.0.2")
	v.Past = &Past{}
	v.Past.Note(*v)
	return v
}

func block(v *View, p, node, state string) {
	v.Record.Pools = append(v.Record.Pools, model.Pool{Name: p, Range: cidr(p), Node: node})
	affinity(v, p, node, state)
}

func affinity(v *View, p, node, state string) {
	if state != "" {
		v.Record.Affinities = append(v.Record.Affinities, model.Affinity{Block: cidr(p), Node: node, State: state})
		slices.SortFunc(v.Record.Affinities, compareAffinities)
	}
}

// attach adds a running pod with an address that is claimed in its block.
func attach(v *View, pod, node, addr string) {
	start(v, pod, node, "c"+pod, netK, addr)
	hold := model.Claim{Pod: web(pod), Container: "c" + pod, Handle: "net." + "c" + pod, Node: node}
	enter(v, hold, addr)
}

// tunnel gives a node's own device an address.
func tunnel(v *View, node, addr string) {
	handle := "ipip-tunnel-addr-" + node
	v.Truth.Sandboxes = append(v.Truth.Sandboxes, model.Sandbox{
		ID: handle, Pod: model.PodRef{Name: node}, Node: node,
		Attachments: []model.Attachment{{Network: netK, Interface: "tunnel", Addrs: []netip.Addr{ip(addr)}}},
	})
	enter(v, model.Claim{Handle: handle, Node: node, Tunnel: true}, addr)
}

// enter claims an address with its handle.
func enter(v *View, c model.Claim, addr string) {
	for _, b := range v.Record.Pools {
		if !b.Range.Contains(ip(addr)) {
			continue
		}
		c.Pool, c.Addr = b.Name, ip(addr)
		v.Record.Claims = append(v.Record.Claims, c)
		v.Record.Handles = append(v.Record.Handles, model.Handle{ID: c.Handle, Counts: []model.HandleCount{{Block: b.Range, Count: 1}}})
		return
	}
}

// unblock takes a block away, but no affinity.
func unblock(v *View, p string) {
	v.Record.Pools = slices.DeleteFunc(v.Record.Pools, func(b model.Pool) bool { return b.Name == p })
}

func state(v *View, p, node, state string) {
	for i := range v.Record.Affinities {
		if a := &v.Record.Affinities[i]; a.Block == cidr(p) && a.Node == node {
			a.State = state
		}
	}
}

// owned makes a node the owner of a block in the block object.
func owned(v *View, p, node string) {
	for i := range v.Record.Pools {
		if v.Record.Pools[i].Name == p {
			v.Record.Pools[i].Node = node
		}
	}
}

func TestBlockOwner(t *testing.T) {
	tableOf(t, calmBlocks, BlockOwner, []row{
		{"two confirmed affinities", func(v *View) { affinity(v, "10.7.0.0/26", "node-3", model.Confirmed) },
			"block 10.7.0.0/26 has two confirmed owners, node-1 and node-3; the block itself records node-1"},
		{"and the block is gone", func(v *View) { affinity(v, "10.7.0.0/26", "node-3", model.Confirmed); unblock(v, "10.7.0.0/26") },
			"block 10.7.0.0/26 has two confirmed owners, node-1 and node-3; the block itself does not exist"},

		{"one is about to find the block taken", func(v *View) { affinity(v, "10.7.0.0/26", "node-3", model.Pending) }, ""},
		{"one is on its way out", func(v *View) { affinity(v, "10.7.0.0/26", "node-3", model.PendingDeletion) }, ""},
	})
}

func TestAffinityMismatch(t *testing.T) {
	const p = "10.7.0.0/26"
	tableOf(t, calmBlocks, AffinityMismatch, []row{
		{"another node's", func(v *View) { owned(v, p, "node-3") },
			"node-1 has a confirmed affinity for block 10.7.0.0/26, but the block itself records node-3 as its owner"},
		{"nobody's", func(v *View) { owned(v, p, "") },
			"node-1 has a confirmed affinity for block 10.7.0.0/26, but the block itself records no owner"},

		{"the claim's order: first pending, without block", func(v *View) { affinity(v, "10.7.1.0/26", "node-3", model.Pending) }, ""},
		{"then with the block", func(v *View) { block(v, "10.7.1.0/26", "node-3", model.Pending) }, ""},
		{"a claim that lost", func(v *View) { affinity(v, p, "node-3", model.Pending) }, ""},
		{"the release's order: first pendingDeletion", func(v *View) { state(v, p, "node-1", model.PendingDeletion) }, ""},
		{"then without owner", func(v *View) { state(v, p, "node-1", model.PendingDeletion); owned(v, p, "") }, ""},
		{"deleted by hand, and nobody has it yet", func(v *View) { unblock(v, p) }, ""},
	})
}

func TestOverlappingBlocks(t *testing.T) {
	tableOf(t, calmBlocks, OverlappingBlocks, []row{
		{"smaller blocks since the pool was made anew", func(v *View) { block(v, "10.7.0.16/28", "node-3", model.Confirmed) },
			"block 10.7.0.16/28 of node-3 lies inside block 10.7.0.0/26 of node-1: both hand out the same addresses"},
		{"larger ones", func(v *View) { unblock(v, "10.7.0.128/26"); block(v, "10.7.0.128/25", "", "") },
			"block 10.7.0.192/26 of node-2 lies inside block 10.7.0.128/25 of no node: both hand out the same addresses"},

		{"neighbours of another size", func(v *View) { block(v, "10.7.1.0/28", "node-3", model.Confirmed) }, ""},
		{"ranges of a network without blocks", func(v *View) {
			v.Networks[0].Blocks = nil
			block(v, "10.7.0.16/28", "node-3", "")
		}, ""},
	})
}

func TestBlockContents(t *testing.T) {
	tableOf(t, calmBlocks, BlockContents, []row{
		{"addresses nobody will be given", func(v *View) { v.Record.Pools[0].Lost = 2 },
			"block 10.7.0.0/26 lists 2 of its addresses neither as claimed nor as free: no pod can get them"},
		{"a claimed one is free", func(v *View) { v.Record.Pools[0].Twice = 1 },
			"block 10.7.0.0/26 lists 1 of its addresses as free that are claimed, or free already: they will be given twice"},
		{"an owner is left", func(v *View) { v.Record.Pools[0].Ownerless = 1 }, "block 10.7.0.0/26 keeps 1 owners of no address"},

		{"a network without blocks", func(v *View) { v.Record.Pools[0].Lost, v.Networks[0].Blocks = 1, nil }, ""},
	})
}

func TestHandleCount(t *testing.T) {
	const red = "handle net.c0 counts 0 addresses in block 10.7.0.0/26, where 1 are claimed by it: a DEL will not find them"
	tableOf(t, calmBlocks, HandleCount, []row{
		{"no handle", func(v *View) { v.Record.Handles = v.Record.Handles[1:] }, red},
		{"it counts another block", func(v *View) { v.Record.Handles[0].Counts[0].Block = cidr("10.7.0.64/26") }, red},
		{"two addresses, one counted", func(v *View) {
			c := v.Record.Claims[0]
			c.Addr = ip("10.7.0.9")
			v.Record.Claims = append(v.Record.Claims, c)
		}, "handle net.c0 counts 1 addresses in block 10.7.0.0/26, where 2 are claimed by it: a DEL will not delete the handle"},
		{"a tunnel's", func(v *View) { v.Record.Handles = v.Record.Handles[:2] },
			"handle ipip-tunnel-addr-node-1 counts 0 addresses in block 10.7.0.0/26, where 1 are claimed by it: a DEL will not find them"},

		{"a call of the container is under way", func(v *View) {
			v.Record.Handles = v.Record.Handles[1:]
			busy(v, "c0", "0", "node-1", false, sec(59))
		}, ""},
		{"it counts too many: between its two writes", func(v *View) { v.Record.Handles[0].Counts[0].Count = 2 }, ""},
		{"a claim without handle", func(v *View) { v.Record.Claims[0].Handle = ""; v.Record.Handles = v.Record.Handles[1:] }, ""},
	})
}

// The quick answer of handle-count is never quick and wrong.
func TestHandleCountLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := View{Record: model.Snapshot{Pools: []model.Pool{{Name: "a", Range: cidr("10.7.0.0/26")}, {Name: "b", Range: cidr("10.7.0.64/26")}}}}
		claimed, counted := map[string]int{}, map[string]int{}
		for _, p := range v.Record.Pools {
			for _, h := range rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y", "z", ""}), 0, 6).Draw(t, "claims") {
				v.Record.Claims = append(v.Record.Claims, model.Claim{Pool: p.Name, Handle: h})
				claimed[h+p.Name]++
			}
		}
		for _, id := range []string{"x", "y", "z"} {
			h := model.Handle{ID: id}
			for _, p := range v.Record.Pools {
				if n := rapid.IntRange(0, 3).Draw(t, "count"); n > 0 {
					h.Counts = append(h.Counts, model.HandleCount{Block: p.Range, Count: n})
					counted[id+p.Name] = n
				}
			}
			if len(h.Counts) > 0 {
				v.Record.Handles = append(v.Record.Handles, h)
			}
		}
		low := 0
		for k, n := range claimed {
			if len(k) > 1 && n > counted[k] {
				low++
			}
		}
		if got := HandleCount.Check(v); len(got) != low {
			t.Fatalf("%d shares are too low, found %v in %+v", low, got, v.Record)
		}
	})
}

func TestLeftoverHandle(t *testing.T) {
	tableOf(t, calmBlocks, LeftoverHandle, []row{
		{"too many", func(v *View) { v.Record.Handles[0].Counts[0].Count = 2 },
			"handle net.c0 counts 2 addresses in block 10.7.0.0/26, where 1 are claimed by it"},
		{"nothing claimed", func(v *View) { v.Record.Claims = v.Record.Claims[1:] },
			"handle net.c0 counts 1 addresses in block 10.7.0.0/26, where 0 are claimed by it"},
		{"in a block that is gone", func(v *View) { unblock(v, "10.7.0.64/26") },
			"handle net.c1 counts 1 addresses in block 10.7.0.64/26, where 0 are claimed by it"},
		{"nothing at all", func(v *View) { v.Record.Handles = append(v.Record.Handles, model.Handle{ID: "x"}) },
			"handle x counts no address in any block"},

		{"who was about to count it down was held up", func(v *View) {
			v.Record.Handles[0].Counts[0].Count = 2
			v.Late = v.Truth.At - 1
		}, "handle net.c0 counts 2 addresses in block 10.7.0.0/26, where 1 are claimed by it"},

		{"who is about to count it down is held up", func(v *View) {
			v.Record.Handles[0].Counts[0].Count = 2
			v.Late = v.Truth.At
		}, ""},
		{"its address was released a moment ago", func(v *View) {
			steps(v, func(v *View) { unclaim(v, "10.7.0.1") })
		}, ""},
		{"its address was released", func(v *View) {
			steps(v, func(v *View) { unclaim(v, "10.7.0.1") })
			v.Truth.At += sec(2)
		}, "handle net.c0 counts 1 addresses in block 10.7.0.0/26, where 0 are claimed by it"},
		{"an ADD that has yet to claim", func(v *View) {
			v.Record.Handles[0].Counts[0].Count = 2
			busy(v, "c0", "0", "node-1", false, sec(59))
		}, ""},
		{"two addresses, both counted", func(v *View) {
			c := v.Record.Claims[0]
			c.Addr = ip("10.7.0.9")
			v.Record.Claims = append(v.Record.Claims, c)
			v.Record.Handles[0].Counts[0].Count = 2
		}, ""},
	})
}

func TestLeakedAffinity(t *testing.T) {
	const p = "10.7.0.128/26"
	tableOf(t, calmBlocks, LeakedAffinity, []row{
		{"of a node that is gone", func(v *View) { delete(v.Truth.Nodes, "node-3"); block(v, "10.7.1.0/26", "node-3", model.Confirmed) },
			"node-3 still has a confirmed affinity for block 10.7.1.0/26, but that node no longer exists"},
		{"even a pending one", func(v *View) { delete(v.Truth.Nodes, "node-3"); affinity(v, "10.7.1.0/26", "node-3", model.Pending) },
			"node-3 still has a pending affinity for block 10.7.1.0/26, but that node no longer exists"},
		{"without block (calico #4471)", func(v *View) { unblock(v, p) },
			"node-1 still has a confirmed affinity for block 10.7.0.128/26, which does not exist"},
		{"a release that died half way", func(v *View) { state(v, p, "node-1", model.PendingDeletion); unblock(v, p) },
			"node-1 still has a pendingDeletion affinity for block 10.7.0.128/26, which does not exist"},
		{"and somebody else has the block", func(v *View) { affinity(v, p, "node-3", model.PendingDeletion) },
			"node-3 still has a pendingDeletion affinity for block 10.7.0.128/26, which is node-1's"},
		{"and it was released", func(v *View) {
			block(v, "10.7.1.0/26", "", "")
			affinity(v, "10.7.1.0/26", "node-3", model.PendingDeletion)
		},
			"node-3 still has a pendingDeletion affinity for block 10.7.1.0/26, which has no owner"},
		{"and its node is gone", func(v *View) { delete(v.Truth.Nodes, "node-3"); affinity(v, p, "node-3", model.PendingDeletion) },
			"node-3 still has a pendingDeletion affinity for block 10.7.0.128/26, but that node no longer exists"},
		{"in a state that is none", func(v *View) { affinity(v, "10.7.1.0/26", "node-3", "10.0.0.1") },
			"node-3 still has a 10.0.0.1 affinity for block 10.7.1.0/26, which does not exist"},
		{"of a node that is gone, in a state that is none", func(v *View) { delete(v.Truth.Nodes, "node-3"); affinity(v, p, "node-3", "new") },
			"node-3 still has a new affinity for block 10.7.0.128/26, but that node no longer exists"},
		{"an owner without affinity", func(v *View) { block(v, "10.7.1.0/26", "node-3", "") },
			"block 10.7.1.0/26 records node-3 as its owner, which has no affinity for it"},

		{"of a node that is gone, in use by others", func(v *View) {
			delete(v.Truth.Nodes, "node-3")
			block(v, "10.7.1.0/26", "node-3", model.Confirmed)
			attach(v, "9", "node-2", "10.7.1.9")
		}, ""},
		{"a release that began a moment ago", func(v *View) {
			v.Record.Affinities = slices.Clone(v.Record.Affinities) // the past has the others
			state(v, p, "node-1", model.PendingDeletion)
			v.Truth.At += sec(60)
			v.Past.Note(*v)
			unblock(v, p)
		}, ""},
		{"a claim that died half way", func(v *View) { affinity(v, "10.7.1.0/26", "node-3", model.Pending) }, ""},
		{"later, with its block", func(v *View) { block(v, "10.7.1.0/26", "node-3", model.Pending) }, ""},
		{"a claim that lost and died", func(v *View) { affinity(v, p, "node-3", model.Pending) }, ""},
		{"a block that was released with addresses in it", func(v *View) { block(v, "10.7.1.0/26", "", "") }, ""},
		{"a controller's", func(v *View) { block(v, "10.7.1.0/26", "virtual:load-balancer", model.Confirmed) }, ""},
	})
}

// A node's own device has an address as long as there is such a node.
func TestUnbackedDevice(t *testing.T) {
	tableOf(t, calmBlocks, UnbackedSandbox, []row{
		{"no claim", func(v *View) { unclaim(v, "10.7.0.2") },
			"/node-1 on node-1 has 10.7.0.2 in network kube-system/k8s-pod-network since 0s, but no claim records it: another pod can get it"},
		{"no claim, and no such node any more", func(v *View) {
			unclaim(v, "10.7.0.2")
			v.Truth.Nodes["node-1"] = model.Node{Up: true}
		}, ""},
		{"no claim, and the pool is disabled", func(v *View) {
			unclaim(v, "10.7.0.2")
			b := *v.Networks[0].Blocks
			b.Pools = slices.Clone(b.Pools)
			for i := range b.Pools {
				b.Pools[i].Disabled = true
			}
			v.Networks[0].Blocks = &b
		}, ""},
	})
}

// A pod waits for a block of each family, and another node has an empty one of each: the node is
// starved of each, whether or not it gets the other.
func TestStarvedOfBothFamilies(t *testing.T) {
	v := calmBlocks()
	v.Truth.Pods[web("9")] = model.Pod{Node: "node-3", Phase: "Pending", Networks: []string{netK}}
	n := &v.Networks[0]
	n.Blocks.V6, n.Blocks.Strict = true, true
	n.Blocks.Pools = append(n.Blocks.Pools, model.IPPool{Name: "six", Prefix: cidr("fd00::/124"), BlockBits: 124, Workloads: true, Nodes: []string{"node-3"}})
	n.Ranges = append(n.Ranges, within("fd00::/124", "fd00::", "fd00::f")...)
	block(v, "fd00::/124", "node-1", model.Confirmed)
	var of []string
	for _, f := range StarvedNode.Check(*v) {
		of = append(of, StarvedNode.Say(&f))
	}
	if len(of) != 2 || !strings.Contains(of[0], "10.7.0.128/26") || !strings.Contains(of[1], "fd00::/124") {
		t.Errorf("want one finding of each family, have %q", of)
	}
}

func TestStarvedNode(t *testing.T) {
	wait := func(v *View) {
		v.Truth.Pods[web("9")] = model.Pod{Node: "node-3", Phase: "Pending", Networks: []string{netK}}
	}
	pool := func(change func(*model.IPPool)) func(*View) {
		return func(v *View) { wait(v); change(&v.Networks[0].Blocks.Pools[0]) }
	}
	dual := func(reserved ...netip.Prefix) func(*View) {
		return func(v *View) {
			wait(v)
			b := v.Networks[0].Blocks
			b.V6, b.Reserved = true, reserved
			b.Pools = append(b.Pools, model.IPPool{Name: "six", Prefix: cidr("fd00::/120"), BlockBits: 124, Workloads: true, Nodes: []string{"node-3"}})
		}
	}
	tableOf(t, calmBlocks, StarvedNode, []row{
		{"a pod waits that needs an IPv6 address besides", dual(),
			"node-3 has no block in network kube-system/k8s-pod-network and default/web-9 waits for an address, while block 10.7.0.128/26 of node-1 is empty"},
		{"there is no IPv6 address for it", dual(cidr("fd00::/120")), ""},
		{"a pod waits for another of its networks", func(v *View) {
			wait(v)
			v.History.Add(model.Event{Kind: model.AddEnd, At: v.Truth.At, Pod: web("9"), Network: netA, Err: "no answer"})
		}, ""},
		{"a pod waits", wait,
			"node-3 has no block in network kube-system/k8s-pod-network and default/web-9 waits for an address, while block 10.7.0.128/26 of node-1 is empty"},
		{"a pod has borrowed", func(v *View) { attach(v, "9", "node-3", "10.7.0.9") },
			"node-3 has no block in network kube-system/k8s-pod-network and default/web-9 has borrowed 10.7.0.9, while block 10.7.0.128/26 of node-1 is empty"},
		{"its tunnel has", func(v *View) { tunnel(v, "node-3", "10.7.0.9") },
			"node-3 has no block in network kube-system/k8s-pod-network and /node-3 has borrowed 10.7.0.9, while block 10.7.0.128/26 of node-1 is empty"},

		{"the empty block was claimed a moment ago", func(v *View) {
			wait(v)
			v.Past = &Past{stands: map[model.Affinity]time.Duration{}}
			for _, a := range v.Record.Affinities {
				v.Past.stands[a] = v.Truth.At - sec(10)
			}
		}, ""},
		{"it wants nothing", func(*View) {}, ""},
		{"its tunnel has borrowed in a pool that has no empty block", func(v *View) {
			tunnel(v, "node-3", "10.7.0.9")
			b := v.Networks[0].Blocks
			pods, tunnels := b.Pools[0], b.Pools[0]
			pods.Prefix, tunnels.Name, tunnels.Prefix = cidr("10.7.0.128/25"), "tunnels", cidr("10.7.0.0/25")
			b.Pools = []model.IPPool{pods, tunnels}
		}, ""},
		{"its tunnel has an address that nobody claims", func(v *View) {
			tunnel(v, "node-3", "10.7.0.9")
			v.Record.Claims = slices.DeleteFunc(v.Record.Claims, func(c model.Claim) bool { return c.Addr == ip("10.7.0.9") })
		}, ""},
		{"it wants an address that is not to be had", func(v *View) {
			wait(v)
			v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("9"), Asked: true})
		}, ""},
		{"it asks for the pool, which takes no pod of its own accord", func(v *View) {
			wait(v)
			v.Networks[0].Blocks.Pools[0].Manual = true
			v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("9"), Pools: []string{v.Networks[0].Blocks.Pools[0].Name}})
		}, "node-3 has no block in network kube-system/k8s-pod-network and default/web-9 waits for an address, while block 10.7.0.128/26 of node-1 is empty"},
		{"it asks for that pool, and has a block of another one", func(v *View) {
			wait(v)
			b := v.Networks[0].Blocks
			b.Pools = append(b.Pools, model.IPPool{Name: "other", Prefix: cidr("10.8.0.0/24"), BlockBits: 26, Workloads: true, Nodes: []string{"node-3"}})
			affinity(v, "10.8.0.0/26", "node-3", model.Confirmed)
			v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("9"), Pools: []string{b.Pools[0].Prefix.String()}})
		}, "node-3 has no block in network kube-system/k8s-pod-network and default/web-9 waits for an address, while block 10.7.0.128/26 of node-1 is empty"},
		{"it asks for another pool", func(v *View) {
			wait(v)
			b := v.Networks[0].Blocks
			b.Pools = append(b.Pools, model.IPPool{Name: "other", Prefix: cidr("10.8.0.0/24"), BlockBits: 26, Workloads: true, Nodes: []string{"node-3"}})
			v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("9"), Pools: []string{"other"}})
		}, ""},
		{"it asks for this pool and for one that does not exist", func(v *View) {
			wait(v)
			v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("9"), Pools: []string{v.Networks[0].Blocks.Pools[0].Name, "gone"}})
		}, ""},
		{"it has a block", func(v *View) { wait(v); block(v, "10.7.1.0/26", "node-3", model.Confirmed) }, ""},
		{"it is about to have one", func(v *View) { wait(v); affinity(v, "10.7.1.0/26", "node-3", model.Pending) }, ""},
		{"all are in use", func(v *View) { wait(v); attach(v, "7", "node-1", "10.7.0.129"); attach(v, "8", "node-2", "10.7.0.193") }, ""},
		{"it has no power", func(v *View) { wait(v); v.Truth.Nodes["node-3"] = model.Node{Registered: true} }, ""},
		{"it is not registered", func(v *View) { wait(v); v.Truth.Nodes["node-3"] = model.Node{Up: true} }, ""},
		{"the pool does not take it", pool(func(p *model.IPPool) { p.Nodes = []string{"node-1", "node-2"} }), ""},
		{"the pool is disabled", pool(func(p *model.IPPool) { p.Disabled = true }), ""},
		{"the pool has other blocks now", pool(func(p *model.IPPool) { p.BlockBits = 28 }), ""},
	})
}

// steps passes one view after another to a Past, a second apart.
func steps(v *View, change ...func(*View)) {
	for _, f := range change {
		v.Truth.At += time.Second
		f(v)
		v.Past.Note(*v)
	}
}

func strict(v *View)  { v.Networks[0].Blocks.Strict = true }
func lenient(v *View) { v.Networks[0].Blocks.Strict = false }

// policyOfItsOwn gives the view a copy of the policy before it changes it, so that earlier views
// keep theirs.
func policyOfItsOwn(v *View, change func(*model.BlockPolicy)) {
	b := *v.Networks[0].Blocks
	change(&b)
	v.Networks = slices.Clone(v.Networks)
	v.Networks[0].Blocks = &b
}

func TestStrictAffinity(t *testing.T) {
	begin := func(v *View) {
		v.History.Add(model.Event{Kind: model.AddBegin, At: v.Truth.At, Container: "c9"})
		busy(v, "c9", "9", "node-3", false, v.Truth.At)
	}
	borrow := func(v *View) { attach(v, "9", "node-3", "10.7.0.9") }
	release := func(v *View) {
		owned(v, "10.7.0.0/26", "")
		v.Record.Claims = slices.Clone(v.Record.Claims)
	}
	later := func(v *View) { v.Truth.At += sec(60) }
	const red = "10.7.0.9 was claimed at 1m3s for default/web-9 (container c9) on node-3 in block 10.7.0.0/26 of node-1, while StrictAffinity was on"
	tableOf(t, calmBlocks, StrictAffinity, []row{
		{"borrowed", func(v *View) { steps(v, strict, begin, borrow) }, red},
		{"and given back", func(v *View) {
			steps(v, strict, begin, borrow, func(v *View) { unclaim(v, "10.7.0.9") }, begin)
		}, red},
		{"borrowed before by another", func(v *View) {
			steps(v, func(v *View) { tunnel(v, "node-2", "10.7.0.9") }, strict, begin, func(v *View) {
				v.Record.Claims = slices.Clone(v.Record.Claims)
				unclaim(v, "10.7.0.9")
				borrow(v)
			})
		}, "10.7.0.9 was claimed at 1m4s for default/web-9 (container c9) on node-3 in block 10.7.0.0/26 of node-1, while StrictAffinity was on"},
		{"a tunnel's, long after", func(v *View) { steps(v, strict, later, func(v *View) { tunnel(v, "node-3", "10.7.0.9") }) },
			"10.7.0.9 was claimed at 2m3s for the tunnel of node-3 on node-3 in block 10.7.0.0/26 of node-1, while StrictAffinity was on"},
		{"a tunnel's, out of nobody's block", func(v *View) { steps(v, strict, release, later, func(v *View) { tunnel(v, "node-3", "10.7.0.9") }) },
			"10.7.0.9 was claimed at 2m4s for the tunnel of node-3 on node-3 in block 10.7.0.0/26 of no node, while StrictAffinity was on"},
		{"out of nobody's block", func(v *View) { steps(v, strict, release, begin, borrow) },
			"10.7.0.9 was claimed at 1m4s for default/web-9 (container c9) on node-3 in block 10.7.0.0/26, which had no owner, while StrictAffinity was on"},

		{"before it was on", func(v *View) { steps(v, begin, borrow, strict, begin) }, ""},
		{"an ADD that had begun", func(v *View) { steps(v, begin, strict, borrow) }, ""},
		{"a tunnel's, soon after", func(v *View) { steps(v, strict, func(v *View) { tunnel(v, "node-3", "10.7.0.9") }) }, ""},
		{"after it was off again", func(v *View) { steps(v, strict, lenient, begin, borrow) }, ""},
		{"in its own block", func(v *View) { steps(v, strict, func(v *View) { attach(v, "9", "node-1", "10.7.0.9") }) }, ""},
		{"in its own block, that it then lost", func(v *View) { steps(v, strict, release) }, ""},
		{"no past", func(v *View) { steps(v, strict, begin, borrow); v.Past = nil }, ""},
	})
}

func TestMaxBlocks(t *testing.T) {
	two := func(v *View) { policyOfItsOwn(v, func(b *model.BlockPolicy) { b.MaxBlocks = 2 }) }
	clone := func(v *View) { v.Record.Affinities = slices.Clone(v.Record.Affinities) }
	claim := func(s string) func(*View) {
		return func(v *View) { clone(v); affinity(v, "10.7.0.64/27", "node-1", s) }
	}
	confirm := func(v *View) { clone(v); state(v, "10.7.0.64/27", "node-1", model.Confirmed) }
	lose := func(v *View) {
		v.Record.Affinities = slices.DeleteFunc(slices.Clone(v.Record.Affinities), func(a model.Affinity) bool { return a.Block == cidr("10.7.0.64/27") })
	}
	begin := func(v *View) { busy(v, "c9", "9", "node-1", false, v.Truth.At) }
	const red = "node-1 claimed block 10.7.0.64/27 at 1m3s, when it had 2 blocks of its family and MaxBlocksPerHost was 2"
	tableOf(t, calmBlocks, MaxBlocks, []row{
		{"one more", func(v *View) { steps(v, two, begin, claim(model.Pending), confirm) }, red},
		{"and given back", func(v *View) { steps(v, two, begin, claim(model.Pending), confirm, lose) }, red},
		{"the limit is there from the start", func(v *View) { two(v); v.Past = &Past{}; steps(v, begin, begin, claim(model.Confirmed)) }, red},
		{"the others are of another pool", func(v *View) {
			steps(v, func(v *View) {
				policyOfItsOwn(v, func(b *model.BlockPolicy) {
					b.Pools = nil
					for _, p := range []string{"10.7.0.0/26", "10.7.0.64/26", "10.7.0.128/25"} {
						b.Pools = append(b.Pools, model.IPPool{Prefix: cidr(p), Nodes: []string{"node-1"}})
					}
				})
			}, two, begin, claim(model.Confirmed))
		}, strings.Replace(red, "1m3s", "1m4s", 1)},
		{"an ADD of another node had begun", func(v *View) {
			steps(v, func(v *View) { busy(v, "c8", "8", "node-2", false, v.Truth.At) }, two, begin, claim(model.Confirmed))
		}, strings.Replace(red, "1m3s", "1m4s", 1)},
		{"a DEL of its own had begun", func(v *View) {
			steps(v, func(v *View) { busy(v, "c0", "0", "node-1", true, v.Truth.At) }, two, begin, claim(model.Confirmed))
		}, strings.Replace(red, "1m3s", "1m4s", 1)},

		{"not confirmed", func(v *View) { steps(v, two, begin, claim(model.Pending), lose) }, ""},
		{"more than the new limit before it was set", func(v *View) { steps(v, claim(model.Confirmed), two, begin) }, ""},
		{"an ADD that had begun", func(v *View) { steps(v, begin, two, claim(model.Confirmed)) }, ""},
		{"no ADD, soon after", func(v *View) { steps(v, two, claim(model.Confirmed)) }, ""},
		{"below the limit", func(v *View) { steps(v, begin, claim(model.Confirmed)) }, ""},
		{"the others are of a pool that is disabled", func(v *View) {
			steps(v, func(v *View) {
				policyOfItsOwn(v, func(b *model.BlockPolicy) {
					b.Pools = []model.IPPool{{Prefix: cidr("10.7.0.0/26"), Disabled: true, Nodes: []string{"node-1"}}, {Prefix: cidr("10.7.0.64/26"), Nodes: []string{"node-1"}}}
				})
			}, two, begin, claim(model.Confirmed))
		}, ""},
		{"of the other family", func(v *View) {
			steps(v, two, func(v *View) {
				policyOfItsOwn(v, func(b *model.BlockPolicy) {
					b.Pools = append(slices.Clone(b.Pools), model.IPPool{Prefix: cidr("fd00::/64"), Nodes: []string{"node-1"}})
				})
			}, begin, func(v *View) { clone(v); affinity(v, "fd00::/122", "node-1", model.Confirmed) })
		}, ""},
		{"no past", func(v *View) { steps(v, two, begin, claim(model.Confirmed)); v.Past = nil }, ""},
	})
}
