package invariant

import (
	"net/netip"
	"slices"
	"testing"

	"ipamsim/model"
)

func TestSpuriousExhaustion(t *testing.T) {
	refuse := func(exhausted bool, free int) func(*View) {
		return func(v *View) {
			e := model.Event{Kind: model.AddEnd, At: sec(30), Node: "node-1", Pod: web("9"), Network: netA, Exhausted: exhausted, MinFree: free, Err: "no more addresses"}
			v.History.Add(e)
			v.History.Add(e) // the kubelet retries: one violation
		}
	}
	table(t, SpuriousExhaustion, []row{
		{"room at every instant", refuse(true, 3),
			"ADD of default/web-9 on node-1 was refused at 30s for lack of addresses in network default/a, which never had fewer than 3 free"},
		{"full for an instant", refuse(true, 0), ""},
		{"another error", refuse(false, 3), ""},
	})
}

func TestActorCrash(t *testing.T) {
	table(t, ActorCrash, []row{
		{"panic", func(v *View) {
			v.History.Add(model.Event{Kind: model.ActorPanic, At: sec(3), Actor: "ip-reconciler/1", Err: "runtime error: index out of range\ngoroutine 1"})
		}, "ip-reconciler/1 panicked at 3s: runtime error: index out of range"},
		{"killed by a fault", func(v *View) { v.History.Add(model.Event{Kind: model.FaultEvent, Actor: "ip-reconciler/1"}) }, ""},
	})
}

func TestStuck(t *testing.T) {
	timedOut := func(kind model.EventKind, change func(*model.Event)) func(*View) {
		return func(v *View) {
			e := end(kind, "c9", 10, 130, "context deadline exceeded")
			e.TimedOut = true
			if change != nil {
				change(&e)
			}
			happens(v, e)
		}
	}
	table(t, Stuck, []row{
		{"the runtime has ended an ADD", timedOut(model.AddEnd, nil),
			"ADD of default/web-9 (container c9) on node-2 has not returned since 10s, and the container runtime has ended it"},
		{"the runtime has ended a DEL", timedOut(model.DelEnd, nil),
			"DEL of default/web-9 (container c9) on node-2 has not returned since 10s, and the container runtime has ended it"},
		{"and a fault had met it", timedOut(model.DelEnd, func(e *model.Event) { e.Disturbed = true }), ""},
		{"it had no time", timedOut(model.DelEnd, func(e *model.Event) { e.Begun = sec(40) }), ""},
		{"it failed by itself", timedOut(model.DelEnd, func(e *model.Event) { e.TimedOut = false }), ""},
		{"ADD", func(v *View) { busy(v, "0123456789abcdef", "9", "node-1", false, sec(29)) },
			"ADD of default/web-9 (container 0123456789ab) on node-1 has not returned since 29s"},
		{"DEL", func(v *View) { busy(v, "c9", "9", "node-1", true, sec(29)) },
			"DEL of default/web-9 (container c9) on node-1 has not returned since 29s"},
		{"long after a partition", func(v *View) {
			v.Truth.Nodes["node-1"] = model.Node{Up: true, Since: sec(29)}
			busy(v, "c9", "9", "node-1", true, sec(1))
		}, "DEL of default/web-9 (container c9) on node-1 has not returned since 1s"},

		{"just within the bound", func(v *View) { busy(v, "c9", "9", "node-1", false, sec(30)) }, ""},
		{"no bound", func(v *View) { busy(v, "c9", "9", "node-1", false, 0); v.Settings.StuckAfter = 0 }, ""},
		{"the node is cut off", func(v *View) {
			v.Truth.Nodes["node-1"] = model.Node{Up: true, Partitioned: true, Registered: true}
			busy(v, "c9", "9", "node-1", false, 0)
		}, ""},
		{"the node is paused", func(v *View) {
			v.Truth.Nodes["node-1"] = model.Node{Up: true, Paused: true}
			busy(v, "c9", "9", "node-1", false, 0)
		}, ""},
		{"the partition ended a moment ago", func(v *View) {
			v.Truth.Nodes["node-1"] = model.Node{Up: true, Since: sec(31)}
			busy(v, "c9", "9", "node-1", false, 0)
		}, ""},
	})
}

// tried is two ADDs of a pod that failed one after the other.
func tried(v *View, pod string) {
	for _, at := range []float64{40, 50} {
		refused(v, pod, at)
	}
}

func refused(v *View, pod string, at float64) {
	v.History.Add(model.Event{Kind: model.AddEnd, Pod: web(pod), Container: "tried", At: sec(at), Err: "no answer"})
}

// exhausted is two ADDs of web-9 that were refused for lack of addresses.
func exhausted(v *View, free int) {
	for _, at := range []float64{40, 50} {
		v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("9"), At: sec(at), Err: "full", Exhausted: true, MinFree: free})
	}
}

// Pods that want one address each need not all have room for one of them to have
// it: a pod that asks is served while an address is free.
func TestConvergenceWithRoomForSome(t *testing.T) {
	for _, c := range []struct {
		free, red int
		wanting   int // how many addresses each of five pods wants
	}{{5, 5, 1}, {4, 5, 1}, {1, 5, 1}, {0, 0, 1}, {10, 5, 2}, {9, 0, 2}} {
		v := calm()
		v.Networks[1].Ranges = within("10.0.0.0/27", "10.0.0.1", netip.AddrFrom4([4]byte{10, 0, 0, byte(2 + c.free)}).String())
		for _, n := range []string{"4", "5", "6", "7", "8"} {
			v.Truth.Pods[web(n)] = model.Pod{Node: "node-2", Phase: "Pending", Networks: slices.Repeat([]string{netB}, c.wanting)}
			tried(v, n)
		}
		if got := Convergence.Check(*v); len(got) != c.red {
			t.Errorf("five pods wait for %d each, %d addresses are left: %d violations, want %d: %v", c.wanting, c.free, len(got), c.red, got)
		}
	}
}

// A pod that wants one address cannot count on those that one wants which takes
// several and may give them back.
func TestConvergenceBesideOneThatWantsTwo(t *testing.T) {
	for free, red := range map[int]int{2: 0, 3: 2} {
		v := calm()
		v.Networks[1].Ranges = within("10.0.0.0/27", "10.0.0.1", netip.AddrFrom4([4]byte{10, 0, 0, byte(2 + free)}).String())
		v.Truth.Pods[web("5")] = model.Pod{Node: "node-2", Phase: "Pending", Networks: []string{netB}}
		v.Truth.Pods[web("6")] = model.Pod{Node: "node-2", Phase: "Pending", Networks: []string{netB, netB}}
		tried(v, "5")
		tried(v, "6")
		if got := Convergence.Check(*v); len(got) != red {
			t.Errorf("%d addresses are left: %d violations, want %d: %v", free, len(got), red, got)
		}
	}
}

func TestConvergence(t *testing.T) {
	pending := func(network string) func(*View) {
		return func(v *View) {
			v.Truth.Pods[web("9")] = model.Pod{Node: "node-2", Phase: "Pending", Networks: []string{network}}
		}
	}
	pod := func(change func(*model.Pod)) func(*View) {
		return func(v *View) {
			p := model.Pod{Node: "node-2", Phase: "Pending", Networks: []string{netA}}
			change(&p)
			v.Truth.Pods[web("9")] = p
		}
	}
	// twice is a pod that requests network b twice, and has it once or not at all.
	twice := func(v *View, once bool) {
		if once {
			start(v, "9", "node-2", "c9", netB, "10.0.0.3")
			claim(v, "10.0.0.0-27", "10.0.0.3", "9", "c9")
			reserve(v, "10.0.0.3", "9")
		}
		p := v.Truth.Pods[web("9")]
		p.Node, p.Phase, p.Networks = "node-2", "Pending", []string{netB, netB}
		v.Truth.Pods[web("9")] = p
	}
	upTo := func(v *View, last string) { v.Networks[1].Ranges = within("10.0.0.0/27", "10.0.0.1", last) }
	full := func(v *View) { upTo(v, "10.0.0.2") }
	table(t, Convergence, []row{
		{"the runtime has the sandbox on record, and will have DEL called again", func(v *View) {
			claim(v, "10.0.0.0-28", "10.0.0.9", "7", "c7")
			v.Kept = map[string]string{"c7": "node-2"}
		}, ""},
		{"but for a sandbox that runs, and has another address", func(v *View) {
			claim(v, "10.0.0.0-28", "10.0.0.9", "0", "c0")
			v.Kept = map[string]string{"c0": "node-1"}
		}, "after convergence 10.0.0.9 is still claimed in pool 10.0.0.0-28 for default/web-0 (container c0), which does not have it"},
		{"an address without claim", func(v *View) { unclaim(v, "10.0.0.1") },
			"after convergence default/web-0 on node-1 has 10.0.0.1 in network default/a since 10s, but no claim records it"},
		{"an address without claim whose sandbox's DEL is under way", func(v *View) {
			unclaim(v, "10.0.0.1")
			v.Truth.Busy["c0"] = model.Busy{Del: true, Node: "node-1"}
		}, ""},
		{"a claim for a namesake that lives", func(v *View) {
			v.Record.Claims[0].Container = "c2"
			start(v, "0", "node-2", "c2", "default/x")
		}, "after convergence default/web-0 on node-1 has 10.0.0.1 in network default/a since 10s, and the claim is for container c2 of that name"},
		{"a claim without owner", func(v *View) { del(v, "0", "c0") },
			"after convergence 10.0.0.1 is still claimed in pool 10.0.0.0-28 for default/web-0 (container c0), which does not have it"},
		{"a second claim of a live container", func(v *View) { claim(v, "10.0.0.0-28", "10.0.0.5", "0", "c0") },
			"after convergence 10.0.0.5 is still claimed in pool 10.0.0.0-28 for default/web-0 (container c0), which does not have it"},
		{"a pod that waits though there is room", func(v *View) { pending(netA)(v); tried(v, "9") },
			"after convergence default/web-9 on node-2 is still Pending, without default/a, though addresses are free"},
		{"a pod that is refused again and again", func(v *View) {
			pending(netA)(v)
			v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("9"), Container: "c7", At: sec(45), Err: "no answer"})
			v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("9"), Container: "c8", At: sec(55), Err: "no answer"})
			busy(v, "c9", "9", "node-2", false, sec(58))
		}, "after convergence default/web-9 on node-2 is still Pending, without default/a, though addresses are free"},
		{"a pod that waits, and was once refused what it asked for by name", func(v *View) {
			pending(netA)(v)
			v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("9"), Asked: true})
			tried(v, "9")
		}, "after convergence default/web-9 on node-2 is still Pending, without default/a, though addresses are free"},
		{"Running on the sandbox of its predecessor", func(v *View) {
			p := v.Truth.Pods[web("0")]
			p.UID = "new"
			v.Truth.Pods[web("0")] = p
			tried(v, "0")
		}, "after convergence default/web-0 on node-1 is still Running, without default/a, though addresses are free"},
		{"its first interface is added and its second refused, again and again", func(v *View) {
			twice(v, true)
			upTo(v, "10.0.0.9")
			for _, at := range []float64{40, 50} {
				v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("9"), Container: "c9", Interface: "net1", At: sec(at)})
				v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("9"), Container: "c9", Interface: "net2", At: sec(at), Err: "no answer"})
			}
			v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("9"), Container: "c9", Interface: "net1", At: sec(55)})
			busy(v, "c9", "9", "node-2", false, sec(55))
		}, "after convergence default/web-9 on node-2 is still Pending, without default/b, though addresses are free"},
		{"its last sandbox is never torn down: a kubelet makes no new one before", func(v *View) {
			pending(netA)(v)
			refused(v, "9", 20)
			for _, at := range []float64{40, 50} {
				v.History.Add(model.Event{Kind: model.DelEnd, Pod: web("9"), Container: "tried", At: sec(at), Err: "no answer"})
			}
		}, "after convergence default/web-9 on node-2 is still Pending, without default/a, though addresses are free"},
		{"it was refused for lack of addresses while some were left", func(v *View) { pending(netB)(v); exhausted(v, 1) },
			"after convergence default/web-9 on node-2 is still Pending, without default/b, though addresses are free"},

		{"it was rightly refused, and has not asked again since there is room", func(v *View) { pending(netB)(v); exhausted(v, 0) }, ""},
		{"the DEL of its last sandbox was refused, and came through", func(v *View) {
			pending(netA)(v)
			refused(v, "9", 20)
			for _, err := range []string{"no answer", "no answer", ""} {
				v.History.Add(model.Event{Kind: model.DelEnd, Pod: web("9"), Container: "tried", At: sec(50), Err: err})
			}
		}, ""},
		{"a sandbox that no DEL takes away", func(v *View) { stays(v, 40, 50) },
			"after convergence the DEL of default/web-0 on node-1 (container c0) still fails: no answer"},
		{"one that the next DEL may take away", func(v *View) { stays(v, 50) }, ""},
		{"one whose DEL was hurt before", func(v *View) { stays(v, 10, 20) }, ""},
		{"one whose DEL failed until a moment ago", func(v *View) {
			stays(v, 30, 40)
			v.History.Add(model.Event{Kind: model.DelEnd, Pod: web("0"), Container: "c0", At: sec(50)})
			stays(v, 55)
		}, ""},
		{"one on a node that nobody can ask", func(v *View) {
			stays(v, 40, 50)
			v.Truth.Nodes["node-1"] = model.Node{Registered: true, Up: true, Partitioned: true}
		}, ""},

		{"attached, and its kubelet has not said so yet", func(v *View) {
			p := v.Truth.Pods[web("0")]
			p.Phase = "Pending"
			v.Truth.Pods[web("0")] = p
			tried(v, "0")
		}, ""},
		{"refused once, long ago: its kubelet has not asked again yet", func(v *View) { pending(netA)(v); refused(v, "9", 20) }, ""},
		{"refused twice, long ago, by what was hurt then", func(v *View) { pending(netA)(v); refused(v, "9", 10); refused(v, "9", 20) }, ""},
		{"its sandbox ended long ago, and the next one is not made yet", func(v *View) {
			v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("0"), Container: "c0", At: sec(10)})
			stop(v, "c0")
			unclaim(v, "10.0.0.1")
			unreserve(v, "10.0.0.1")
		}, ""},
		{"its work has just ended", func(v *View) {
			v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("9"), Container: "c9", At: sec(20)})
			v.History.Add(model.Event{Kind: model.DelEnd, Pod: web("9"), Container: "c9", At: sec(50)})
			v.Truth.Pods[web("9")] = model.Pod{Node: "node-2", Phase: "Running", Networks: []string{netA}}
		}, ""},
		{"an ADD has failed, the next one comes", func(v *View) {
			pending(netA)(v)
			v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("9"), Container: "c9", At: sec(55), Err: "context deadline exceeded"})
		}, ""},
		{"its kubelet has not heard of it yet", pending(netA), ""},
		{"nor has it heard of the successor of one that was refused twice", func(v *View) {
			pod(func(p *model.Pod) { p.Since = sec(25) })(v)
			refused(v, "9", 5)
			refused(v, "9", 15)
		}, ""},
		{"its first ADD is slow", func(v *View) { pending(netA)(v); busy(v, "c9", "9", "node-2", false, sec(20)) }, ""},
		{"a pod on its way up", pod(func(p *model.Pod) { p.Since = sec(40) }), ""},
		{"a pod that was refused the address it asked for", func(v *View) {
			pending(netA)(v)
			v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("9"), Asked: true})
		}, ""},
		{"it wants two, and has one, where more are left", func(v *View) { twice(v, true); upTo(v, "10.0.0.9"); tried(v, "9") },
			"after convergence default/web-9 on node-2 is still Pending, without default/b, though addresses are free"},

		{"it wants two where one is left", func(v *View) { twice(v, false); upTo(v, "10.0.0.3"); tried(v, "9") }, ""},
		{"it wants two, has one, and none is left", func(v *View) { twice(v, true); upTo(v, "10.0.0.3"); tried(v, "9") }, ""},
		{"no room", func(v *View) { pending(netB)(v); full(v); tried(v, "9") }, ""},
		{"the node got no slice", func(v *View) { pending(netS)(v); tried(v, "9") }, ""},
		{"on its way out", pod(func(p *model.Pod) { p.Deleting = true }), ""},
		{"finished", pod(func(p *model.Pod) { p.Phase = "Succeeded" }), ""},
		{"not scheduled", pod(func(p *model.Pod) { p.Node = "" }), ""},
		{"wants nothing", pod(func(p *model.Pod) { p.Networks = nil }), ""},
		{"wants another manager's network", pod(func(p *model.Pod) { p.Networks = []string{"default/x"} }), ""},
		{"its node is not registered", func(v *View) {
			pending(netA)(v)
			v.Truth.Nodes["node-2"] = model.Node{Up: true}
		}, ""},
		{"a claim that a DEL is about to release", func(v *View) { del(v, "0", "c0"); busy(v, "c0", "0", "node-1", true, sec(59)) }, ""},
		{"its node has no power and its pod object is still there", func(v *View) {
			stop(v, "c0")
			v.Truth.Nodes["node-1"] = model.Node{Registered: true}
		}, ""},
	})
}

// stays is a stopped sandbox whose DEL has failed at these seconds.
func stays(v *View, at ...float64) {
	v.Truth.Sandboxes[0].Stopped = true
	for _, s := range at {
		v.History.Add(model.Event{Kind: model.DelEnd, Pod: web("0"), Container: "c0", Node: "node-1", At: sec(s), Err: "no answer"})
	}
}
