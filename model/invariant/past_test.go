package invariant

import (
	"net/netip"
	"slices"
	"testing"

	"ipamsim/model"
)

// The oracles that judge every manager, on the claims of a network with blocks.

func TestClaimsOfTunnels(t *testing.T) {
	gone := func(v *View) {
		steps(v, func(v *View) { delete(v.Truth.Nodes, "node-1") })
		unclaim(v, "10.7.0.1")
		v.Truth.Sandboxes = slices.DeleteFunc(v.Truth.Sandboxes, func(s model.Sandbox) bool { return s.Node == "node-1" })
	}
	later := func(v *View) { v.Truth.At += sec(31) }
	byHand := func(v *View) {
		v.Record.Claims = append(v.Record.Claims, model.Claim{Pool: "10.7.0.0/26", Addr: ip("10.7.0.9")})
		later(v)
	}
	tableOf(t, calmBlocks, LeakedClaim, []row{
		{"its node is gone", func(v *View) { gone(v); later(v) },
			"10.7.0.2 stays claimed in block 10.7.0.0/26 for the tunnel of node-1, which is not registered since 1m0s"},
		{"a pod's", func(v *View) { stop(v, "c0") },
			"10.7.0.1 stays claimed in block 10.7.0.0/26 for default/web-0 (container c0), which has no live sandbox since 20s"},

		{"its node is gone for less than the bound", gone, ""},
		{"its node has no power", func(v *View) {
			v.Truth.Nodes["node-1"] = model.Node{Registered: true}
			v.Truth.Sandboxes = v.Truth.Sandboxes[:2]
			later(v)
		}, ""},
		{"by hand", byHand, ""},
	})
	tableOf(t, calmBlocks, Convergence, []row{
		{"its node is gone", gone,
			"after convergence 10.7.0.2 is still claimed in block 10.7.0.0/26 for the tunnel of node-1, which does not have it"},
		{"without claim", func(v *View) { unclaim(v, "10.7.0.2") },
			"after convergence /node-1 on node-1 has 10.7.0.2 in network kube-system/k8s-pod-network since 0s, but no claim records it"},
		{"a pod waits, and a block is left to it", func(v *View) {
			v.Truth.Pods[web("9")] = model.Pod{Node: "node-1", Phase: "Pending", Networks: []string{netK}}
			tried(v, "9")
		}, "after convergence default/web-9 on node-1 is still Pending, without kube-system/k8s-pod-network, though addresses are free"},

		{"a pod waits, and none is", func(v *View) {
			strict(v)
			v.Truth.Pods[web("9")] = model.Pod{Node: "node-3", Phase: "Pending", Networks: []string{netK}}
			tried(v, "9")
		}, ""},
		{"by hand", byHand, ""},
	})
	tableOf(t, calmBlocks, UnbackedSandbox, []row{
		{"released", func(v *View) { unclaim(v, "10.7.0.2") },
			"/node-1 on node-1 has 10.7.0.2 in network kube-system/k8s-pod-network since 0s, but no claim records it: another pod can get it"},
		{"released and taken by a pod", func(v *View) { v.Record.Claims[2] = v.Record.Claims[0]; v.Record.Claims[2].Addr = ip("10.7.0.2") },
			"/node-1 on node-1 has 10.7.0.2 in network kube-system/k8s-pod-network since 0s, but no claim records it: another pod can get it"},
	})
	tableOf(t, calmBlocks, UnbackedSandbox, []row{
		{"released for longer than a move takes", func(v *View) {
			steps(v, func(v *View) { unclaim(v, "10.7.0.2") }, func(v *View) { v.Truth.At += Overlap })
		}, "/node-1 on node-1 has 10.7.0.2 in network kube-system/k8s-pod-network since 0s, but no claim records it: another pod can get it"},
		{"claimed for a pod as soon as it is released", func(v *View) {
			steps(v, func(v *View) { v.Record.Claims[2] = v.Record.Claims[0]; v.Record.Claims[2].Addr = ip("10.7.0.2") })
		}, "/node-1 on node-1 has 10.7.0.2 in network kube-system/k8s-pod-network since 0s, but no claim records it: another pod can get it"},
		{"released while it moves", func(v *View) { steps(v, func(v *View) { unclaim(v, "10.7.0.2") }) }, ""},
	})
	tableOf(t, calmBlocks, DuplicateAddress, []row{
		{"a pod's too", func(v *View) { start(v, "9", "node-2", "c9", netK, "10.7.0.2") },
			"10.7.0.2 in network kube-system/k8s-pod-network is held by two live sandboxes: /node-1 on node-1 since 0s, and default/web-9 on node-2 since 10s"},
	})
}

func TestReservedAndDisabled(t *testing.T) {
	reserve := func(v *View) {
		policyOfItsOwn(v, func(b *model.BlockPolicy) { b.Reserved = []netip.Prefix{cidr("10.7.0.8/30"), cidr("10.7.0.9/32")} })
	}
	disable := func(v *View) {
		policyOfItsOwn(v, func(b *model.BlockPolicy) {
			b.Pools = []model.IPPool{{Prefix: cidr("10.7.0.0/24"), BlockBits: 26, Disabled: true, Workloads: true, Nodes: []string{"node-1", "node-2", "node-3"}}}
		})
	}
	edit := func(f func(*model.IPPool)) func(*View) {
		return func(v *View) {
			policyOfItsOwn(v, func(b *model.BlockPolicy) {
				b.Pools = slices.Clone(b.Pools)
				f(&b.Pools[0])
			})
		}
	}
	elsewhere := edit(func(p *model.IPPool) { p.Nodes = []string{"node-2", "node-3"} })
	manual := edit(func(p *model.IPPool) { p.Manual = true })
	undo := func(v *View) {
		policyOfItsOwn(v, func(b *model.BlockPolicy) { b.Reserved, b.Pools[0].Disabled = nil, false })
	}
	add := func(v *View, ifname string) {
		v.History.Add(model.Event{Kind: model.AddBegin, At: v.Truth.At, Container: "c9", Interface: ifname})
	}
	begin := func(v *View) { add(v, "net1") }
	get := func(v *View) {
		attach(v, "9", "node-1", "10.7.0.9")
		v.Truth.Sandboxes[len(v.Truth.Sandboxes)-1].Attachments[0].Since = v.Truth.At
	}
	tableOf(t, calmBlocks, ExcludedAddress, []row{
		{"reserved", func(v *View) { steps(v, reserve, begin, get) },
			"default/web-9 on node-1 has 10.7.0.9 since 1m3s, which is reserved since 1m1s (10.7.0.8/30)"},
		{"reserved from the start", func(v *View) { reserve(v); v.Past = &Past{}; steps(v, begin, begin, get) },
			"default/web-9 on node-1 has 10.7.0.9 since 1m3s, which is reserved since 0s (10.7.0.8/30)"},

		{"reserved afterwards", func(v *View) { steps(v, begin, get, reserve) }, ""},
		{"an ADD that had begun", func(v *View) { steps(v, begin, reserve, get) }, ""},
		{"asked for by name", func(v *View) {
			steps(v, reserve, begin, func(v *View) {
				get(v)
				v.Truth.Sandboxes[len(v.Truth.Sandboxes)-1].Attachments[0].Asked = true
			})
		}, ""},
		{"reserved no more", func(v *View) { steps(v, reserve, undo, begin, get) }, ""},
		{"others are reserved", func(v *View) {
			steps(v, func(v *View) {
				policyOfItsOwn(v, func(b *model.BlockPolicy) { b.Reserved = []netip.Prefix{cidr("10.7.0.10/31")} })
			}, begin, get)
		}, ""},
		{"no past", func(v *View) { steps(v, reserve, begin, get); v.Past = nil }, ""},
	})
	tableOf(t, calmBlocks, OutOfPool, []row{
		{"of a disabled pool", func(v *View) { steps(v, disable, begin, get) },
			"default/web-9 on node-1 has 10.7.0.9 since 1m3s, of pool 10.7.0.0/24, which is disabled since 1m1s"},
		{"of a pool that does not select the node", func(v *View) { steps(v, elsewhere, begin, get) },
			"default/web-9 on node-1 has 10.7.0.9 since 1m3s, of pool 10.7.0.0/24, which has not selected the node since 1m1s"},
		{"of a Manual pool", func(v *View) { steps(v, manual, begin, get) },
			"default/web-9 on node-1 has 10.7.0.9 since 1m3s and did not ask for it, of pool 10.7.0.0/24, which is Manual since 1m1s"},
		{"of a pool for tunnels", func(v *View) { steps(v, edit(func(p *model.IPPool) { p.Workloads = false }), begin, get) },
			"default/web-9 on node-1 has 10.7.0.9 since 1m3s, of pool 10.7.0.0/24, which allows no workloads since 1m1s"},
		{"of a pool that it asked for", func(v *View) {
			steps(v, elsewhere, manual, begin, func(v *View) {
				get(v)
				v.Truth.Sandboxes[len(v.Truth.Sandboxes)-1].Attachments[0].OfPool = true
			})
		}, ""},
		{"an ADD that had begun when the pool no longer selected the node", func(v *View) { steps(v, begin, elsewhere, get) }, ""},
		{"of no pool", func(v *View) { start(v, "9", "node-1", "c9", netK, "10.9.0.1") },
			"default/web-9 on node-1 has 10.9.0.1 since 10s, outside every range of network kube-system/k8s-pod-network"},

		{"disabled afterwards", func(v *View) { steps(v, begin, get, disable) }, ""},
		{"an ADD that had begun", func(v *View) { steps(v, begin, disable, get) }, ""},
		{"an ADD that had begun, and the next interface's begins as it ends", func(v *View) {
			steps(v, begin, disable, func(v *View) { get(v); add(v, "net2") })
		}, ""},
		{"in use again", func(v *View) { steps(v, disable, undo, begin, get) }, ""},
		{"of a pool that was deleted", func(v *View) {
			steps(v, func(v *View) { policyOfItsOwn(v, func(b *model.BlockPolicy) { b.Pools = nil }) }, begin, get)
		}, ""},
	})
}
