package invariant

import (
	"testing"

	"ipamsim/model"
)

func TestSpuriousExhaustion(t *testing.T) {
	refuse := func(exhausted bool, free int) func(*View) {
		return func(v *View) {
			e := model.Event{Kind: model.AddEnd, At: sec(30), Node: "node-1", Pod: web("9"), Network: netA, Exhausted: exhausted, MinFree: free, Err: "no more addresses"}
			v.History.Add(e)
			v.History.Add(e) // the kubelet tries again: one violation
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
	table(t, Stuck, []row{
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
	// twice is a pod that wants network b twice, and has it once or not at all.
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
		{"an address without claim", func(v *View) { unclaim(v, "10.0.0.1") },
			"after convergence default/web-0 on node-1 has 10.0.0.1 in network default/a since 10s, and no claim says so"},
		{"a claim without owner", func(v *View) { del(v, "0", "c0") },
			"after convergence 10.0.0.1 is still claimed in pool 10.0.0.0-28 for default/web-0 (container c0), which does not have it"},
		{"a second claim of a live container", func(v *View) { claim(v, "10.0.0.0-28", "10.0.0.5", "0", "c0") },
			"after convergence 10.0.0.5 is still claimed in pool 10.0.0.0-28 for default/web-0 (container c0), which does not have it"},
		{"a pod that waits though there is room", func(v *View) { pending(netA)(v); tried(v, "9") },
			"after convergence default/web-9 on node-2 is still Pending, without default/a, where addresses are left"},
		{"a pod that is refused again and again", func(v *View) {
			pending(netA)(v)
			v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("9"), Container: "c7", At: sec(45), Err: "no answer"})
			v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("9"), Container: "c8", At: sec(55), Err: "no answer"})
			busy(v, "c9", "9", "node-2", false, sec(58))
		}, "after convergence default/web-9 on node-2 is still Pending, without default/a, where addresses are left"},
		{"a pod that waits, and was once refused what it asked for by name", func(v *View) {
			pending(netA)(v)
			v.History.Add(model.Event{Kind: model.AddEnd, Pod: web("9"), Asked: true})
			tried(v, "9")
		}, "after convergence default/web-9 on node-2 is still Pending, without default/a, where addresses are left"},
		{"Running on the sandbox of its predecessor", func(v *View) {
			p := v.Truth.Pods[web("0")]
			p.UID = "new"
			v.Truth.Pods[web("0")] = p
			tried(v, "0")
		}, "after convergence default/web-0 on node-1 is still Running, without default/a, where addresses are left"},

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
			"after convergence default/web-9 on node-2 is still Pending, without default/b, where addresses are left"},

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
