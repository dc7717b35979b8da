package invariant

import (
	"slices"
	"testing"
	"time"

	"ipamsim/model"
)

func TestLeakedClaim(t *testing.T) {
	const red = "10.0.0.1 stays claimed in pool 10.0.0.0-28 for default/web-0 (container c0), which has no live sandbox since 20s"
	table(t, LeakedClaim, []row{
		{"pod and sandbox gone", func(v *View) { del(v, "0", "c0") }, red},
		{"pod and sandbox gone, and the virtual machine keeps it", func(v *View) {
			del(v, "0", "c0")
			v.Record.Claims[0].Machine = "default/web"
		}, ""},
		{"sandbox gone, pod never started again", func(v *View) { stop(v, "c0") }, red},
		{"the same pod lives with another address", func(v *View) {
			del(v, "0", "c0")
			start(v, "0", "node-2", "c2", netA, "10.0.0.3")
		}, red},
		{"another pod lives with this address", func(v *View) {
			del(v, "0", "c0")
			start(v, "2", "node-2", "c2", netA, "10.0.0.1")
		}, red},
		{"from before the run", func(v *View) { claim(v, "10.0.0.0-28", "10.0.0.5", "9", "0123456789abcdef") },
			"10.0.0.5 stays claimed in pool 10.0.0.0-28 for default/web-9 (container 0123456789ab), which has no live sandbox since 0s"},
		{"killed inside its ADD", func(v *View) {
			v.History.Add(model.Event{Kind: model.AddBegin, Container: "c9", At: sec(29)})
			claim(v, "10.0.0.0-28", "10.0.0.5", "9", "c9")
		}, "10.0.0.5 stays claimed in pool 10.0.0.0-28 for default/web-9 (container c9), which has no live sandbox since 29s"},

		{"a pod that is refused again and again, with the next ADD under way", func(v *View) {
			stop(v, "c0")
			refused(v, "0", 25)
			busy(v, "c7", "0", "node-1", false, sec(59))
		}, red},
		{"the DEL of another container of the pod is under way", func(v *View) { del(v, "0", "c0"); busy(v, "c7", "0", "node-1", true, sec(59)) }, red},

		{"just within the bound", func(v *View) { del(v, "0", "c0"); v.Truth.At = sec(50) }, ""},
		{"no machine is left that could release it", func(v *View) {
			del(v, "0", "c0")
			for n := range v.Truth.Nodes {
				v.Truth.Nodes[n] = model.Node{Registered: true}
			}
		}, ""},
		{"its DEL ended a moment ago", func(v *View) {
			del(v, "0", "c0")
			v.History.Add(model.Event{Kind: model.DelEnd, Container: "c0", At: sec(31), Err: "timeout"})
		}, ""},
		{"no bound", func(v *View) { del(v, "0", "c0"); v.Settings.LeakAfter = 0 }, ""},
		{"a DEL is under way", func(v *View) { del(v, "0", "c0"); busy(v, "c0", "0", "node-1", true, sec(59)) }, ""},
		{"the pod's first ADD after it is under way, and may take it over", func(v *View) {
			refused(v, "0", 5) // before the container was
			del(v, "0", "c0")
			busy(v, "c7", "0", "node-1", false, sec(59))
		}, ""},
		{"the same pod lives with this address", func(v *View) {
			del(v, "0", "c0")
			start(v, "0", "node-2", "c2", netA, "10.0.0.1")
		}, ""},
		{"its node has no power and its pod object is still there", func(v *View) {
			stop(v, "c0")
			v.Truth.Nodes["node-1"] = model.Node{Registered: true}
		}, ""},
		{"its namesake waits on another node without power", func(v *View) {
			del(v, "0", "c0")
			v.History.Events = slices.Clone(v.History.Events)
			v.History.Events = append(v.History.Events, model.Event{Kind: model.AddBegin, At: sec(5), Node: "node-1", Container: "c0", Pod: web("0")})
			slices.SortStableFunc(v.History.Events, func(a, b model.Event) int { return int(a.At - b.At) })
			v.Truth.Pods[web("0")] = model.Pod{Node: "node-2", Phase: "Pending", Since: sec(30)}
			v.Truth.Nodes["node-2"] = model.Node{Registered: true}
			v.Past = &Past{}
			v.Past.Note(*v)
		}, red},
		{"its pod object was deleted on a node without power, for longer than the bound", func(v *View) { lose(v, sec(31)) }, red},
		{"and for less", func(v *View) { lose(v, sec(30)) }, ""},
	})
	table(t, Convergence, []row{
		{"a pod that was deleted on a node without power", func(v *View) { lose(v, sec(31)) },
			"after convergence 10.0.0.1 is still claimed in pool 10.0.0.0-28 for default/web-0 (container c0), which does not have it"},
		{"within the time of a leak", func(v *View) { lose(v, sec(30)) }, ""},
	})
}

// lose turns off the node of a pod whose object was deleted that long before now.
func lose(v *View, ago time.Duration) {
	stop(v, "c0")
	v.Truth.Nodes["node-1"] = model.Node{Registered: true}
	v.Past = &Past{}
	v.Past.Note(*v)
	delete(v.Truth.Pods, web("0"))
	v.Truth.At += ago
}

func TestOverlapReservation(t *testing.T) {
	const red = "default/web-0 on node-1 has 10.0.0.1 in network default/a since 10s, but nothing reserves it across overlapping ranges"
	table(t, OverlapReservation, []row{
		{"none", func(v *View) { unreserve(v, "10.0.0.1") }, red},
		{"of another network_name", func(v *View) { v.Record.Reservations[0].Network = "d" }, red},
		{"of another pod", func(v *View) { v.Record.Reservations[0].Pod = web("1") },
			"default/web-0 on node-1 has 10.0.0.1 in network default/a since 10s, but across overlapping ranges it is reserved for default/web-1"},
		{"the ADD of another interface is under way", func(v *View) {
			unreserve(v, "10.0.0.1")
			busy(v, "c0", "0", "node-1", false, sec(59))
		}, red},
		{"a call of another container of the pod is under way", func(v *View) {
			unreserve(v, "10.0.0.1")
			busy(v, "c7", "0", "node-1", true, sec(59))
		}, red},

		{"ranges not guarded", func(v *View) { unreserve(v, "10.0.0.1"); v.Networks[0].Overlap = false }, ""},
		{"of another interface of the pod: the guard knows pods only", func(v *View) { v.Record.Reservations[0].Interface = "net2" }, ""},
		{"its own DEL is under way", func(v *View) {
			unreserve(v, "10.0.0.1")
			busy(v, "c0", "0", "node-1", true, sec(59))
		}, ""},
	})
}

func TestLeftoverReservation(t *testing.T) {
	table(t, LeftoverReservation, []row{
		{"nobody claims it", func(v *View) { reserve(v, "10.0.0.9", "9") },
			"10.0.0.9 stays reserved for default/web-9 across overlapping ranges (10.0.0.9), but no pool claims it"},
		{"who is about to drop it is held up", func(v *View) { reserve(v, "10.0.0.9", "9"); v.Late = v.Truth.At }, ""},
		{"a DEL of its pod is under way", func(v *View) { reserve(v, "10.0.0.9", "9"); busy(v, "c9", "9", "node-1", true, sec(59)) }, ""},
		{"a DEL of another pod is under way", func(v *View) { reserve(v, "10.0.0.9", "9"); busy(v, "c8", "8", "node-1", true, sec(59)) },
			"10.0.0.9 stays reserved for default/web-9 across overlapping ranges (10.0.0.9), but no pool claims it"},
		{"claimed under another network_name", func(v *View) {
			reserve(v, "10.0.0.9", "9")
			claim(v, "d-10.0.0.0-28", "10.0.0.9", "9", "c9")
		}, "10.0.0.9 stays reserved for default/web-9 across overlapping ranges (10.0.0.9), but no pool claims it"},

		{"made by hand, for nobody", func(v *View) {
			reserve(v, "10.0.0.9", "9")
			v.Record.Reservations[len(v.Record.Reservations)-1].Pod = model.PodRef{}
		}, ""},
		{"claimed by another pod: overlap-reservation's matter", func(v *View) {
			reserve(v, "10.0.0.9", "9")
			claim(v, "10.0.0.0-27", "10.0.0.9", "8", "c8")
		}, ""},
	})
}

func TestDoubleClaim(t *testing.T) {
	// Network c uses a's pool without guarding it; these cases go without c.
	guarded := func(change func(*View)) func(*View) {
		return func(v *View) {
			v.Networks = slices.DeleteFunc(v.Networks, func(n model.Network) bool { return n.Key == netC })
			change(v)
		}
	}
	table(t, DoubleClaim, []row{
		{"two pools, two pods", guarded(func(v *View) { claim(v, "10.0.0.0-27", "10.0.0.1", "9", "c9") }),
			"10.0.0.1 is claimed twice: in pool 10.0.0.0-28 for default/web-0 and in pool 10.0.0.0-27 for default/web-9"},
		{"a pool that no network uses any more", guarded(func(v *View) {
			v.Record.Pools = append(v.Record.Pools, model.Pool{Name: "old", Range: cidr("10.0.0.0/24")})
			claim(v, "old", "10.0.0.1", "9", "c9")
		}), "10.0.0.1 is claimed twice: in pool 10.0.0.0-28 for default/web-0 and in pool old for default/web-9"},
		{"a call of another container of the pod is under way", guarded(func(v *View) {
			claim(v, "10.0.0.0-27", "10.0.0.1", "9", "c9")
			busy(v, "c8", "9", "node-1", false, sec(59))
		}), "10.0.0.1 is claimed twice: in pool 10.0.0.0-28 for default/web-0 and in pool 10.0.0.0-27 for default/web-9"},
		{"the ADD of the container's next interface is under way", guarded(func(v *View) {
			claim(v, "10.0.0.0-27", "10.0.0.1", "9", "c9")
			v.Truth.Busy["c9"] = model.Busy{Pod: web("9"), Node: "node-1", Interface: "net2", Since: sec(59)}
		}), "10.0.0.1 is claimed twice: in pool 10.0.0.0-28 for default/web-0 and in pool 10.0.0.0-27 for default/web-9"},

		{"a pod in the middle of an ADD that nobody has seen", guarded(func(v *View) {
			claim(v, "10.0.0.0-27", "10.0.0.1", "9", "c9")
			v.Truth.Busy["pod web-9"] = model.Busy{Pod: web("9"), Node: "node-1", Unseen: true}
		}), ""},
		{"a claim made by hand, for nobody", guarded(func(v *View) {
			claim(v, "10.0.0.0-27", "10.0.0.1", "9", "")
			v.Record.Claims[len(v.Record.Claims)-1].Pod = model.PodRef{}
		}), ""},
		{"one pod", guarded(func(v *View) { claim(v, "10.0.0.0-27", "10.0.0.1", "0", "c9") }), ""},
		{"another network_name", guarded(func(v *View) { claim(v, "d-10.0.0.0-28", "10.0.0.1", "9", "c9") }), ""},
		{"one of the networks does not guard", guarded(func(v *View) {
			v.Networks[1].Overlap = false
			claim(v, "10.0.0.0-27", "10.0.0.1", "9", "c9")
		}), ""},
		{"another network uses the pool without guard", func(v *View) { claim(v, "10.0.0.0-27", "10.0.0.1", "9", "c9") }, ""},
		{"an ADD of one pod is under way", guarded(func(v *View) {
			claim(v, "10.0.0.0-27", "10.0.0.1", "9", "c9")
			v.Truth.Busy["c9"] = model.Busy{Pod: web("9"), Node: "node-1", Interface: "net1", Since: sec(59)}
		}), ""},
	})
}

func TestSliceConflict(t *testing.T) {
	slice := func(v *View, node, prefix string) {
		v.Record.Pools = append(v.Record.Pools, model.Pool{Name: node + "-" + prefix, Range: cidr(prefix), Node: node})
	}
	table(t, SliceConflict, []row{
		{"one slice, two nodes", func(v *View) { slice(v, "node-1", "10.9.0.0/26"); slice(v, "node-2", "10.9.0.0/26") },
			"node slices of network default/s overlap: 10.9.0.0/26 of node-1 (pool node-1-10.9.0.0/26) and 10.9.0.0/26 of node-2 (pool node-2-10.9.0.0/26)"},
		{"a slice inside another", func(v *View) {
			slice(v, "node-1", "10.9.0.96/27")
			slice(v, "node-3", "10.9.0.128/26")
			slice(v, "node-2", "10.9.0.64/26")
		}, "node slices of network default/s overlap: 10.9.0.64/26 of node-2 (pool node-2-10.9.0.64/26) and 10.9.0.96/27 of node-1 (pool node-1-10.9.0.96/27)"},

		{"of a node that is gone but runs on", func(v *View) {
			slice(v, "node-1", "10.9.0.0/26")
			slice(v, "node-3", "10.9.0.0/26")
			start(v, "9", "node-3", "c9", netS, "10.9.0.1")
		}, "node slices of network default/s overlap: 10.9.0.0/26 of node-1 (pool node-1-10.9.0.0/26) and 10.9.0.0/26 of node-3 (pool node-3-10.9.0.0/26)"},

		{"the pool of a node that was replaced", func(v *View) { slice(v, "node-1", "10.9.0.0/26"); slice(v, "node-3", "10.9.0.0/26") }, ""},
		{"the old pool of a node that came back", func(v *View) {
			slice(v, "node-1", "10.9.0.0/26")
			slice(v, "node-2", "10.9.0.0/26")
			slice(v, "node-2", "10.9.0.64/26")
		}, ""},
		{"of two networks that are cut from one range", func(v *View) {
			twin := v.Networks[slices.IndexFunc(v.Networks, func(n model.Network) bool { return n.Key == netS })]
			twin.Key = "default/twin"
			v.Networks = append(v.Networks, twin)
			slice(v, "node-1", "10.9.0.0/26")
			slice(v, "node-2", "10.9.0.0/26")
			start(v, "9", "node-2", "c9", netS, "10.9.0.1")
		}, ""},
		{"each node has a wire of its own", func(v *View) {
			v.Networks[slices.IndexFunc(v.Networks, func(n model.Network) bool { return n.Key == netS })].Local = true
			slice(v, "node-1", "10.9.0.0/26")
			slice(v, "node-2", "10.9.0.0/26")
		}, ""},
		{"neighbours", func(v *View) { slice(v, "node-1", "10.9.0.0/26"); slice(v, "node-2", "10.9.0.64/26") }, ""},
		{"of a network without slices", func(v *View) { slice(v, "node-1", "10.0.0.0/29"); slice(v, "node-2", "10.0.0.0/29") }, ""},
		{"outside the network", func(v *View) { slice(v, "node-1", "10.7.0.0/26"); slice(v, "node-2", "10.7.0.0/26") }, ""},
	})
}

// A slice that was taken from an existing node, and a node that was replaced in the meantime, are
// different failures.
func TestSlicesOfPresentNodes(t *testing.T) {
	for _, c := range []struct {
		name   string
		absent bool // between the two pools
		code   string
	}{
		{"both stay", false, slicesOfPresent},
		{"the first is registered anew", true, slicesOfReplaced},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := calm()
			v.Past = &Past{}
			node := v.Truth.Nodes["node-1"]
			see := func() { v.Past.Note(*v) }
			draws := func(node string) {
				v.Record.Pools = append(slices.Clone(v.Record.Pools), model.Pool{Name: node + "-10.9.0.0-26", Range: cidr("10.9.0.0/26"), Node: node})
				see()
			}
			see()
			draws("node-1")
			if c.absent {
				v.Truth.Nodes["node-1"] = model.Node{Up: true}
				see()
				v.Truth.Nodes["node-1"] = node
				see()
			}
			draws("node-2")
			got := SliceConflict.Check(*v)
			if len(got) != 1 || got[0].Code != c.code {
				t.Fatalf("have %+v, want one with code %q", got, c.code)
			}
			judgedAs(t, SliceConflict, got[0].Code)
		})
	}
}
