package invariant

import (
	"testing"

	"ipamsim/model"
)

// remembers judges the calm cluster with a past that has seen each of some views.
func remembers(v *View, seen ...func(*View)) {
	v.Past = &Past{}
	v.Past.Note(*v)
	for _, change := range seen {
		change(v)
		v.Past.Note(*v)
	}
}

// end is the end of a call of web-9's, which wants an address of network a.
func end(kind model.EventKind, container string, from, to float64, err string) model.Event {
	return model.Event{Kind: kind, At: sec(to), Begun: sec(from), Node: "node-2", Pod: web("9"), Container: container, Network: netA, Interface: "net1", Err: err, MinFree: 3}
}

// happens adds events, each seen by itself.
func happens(v *View, events ...model.Event) {
	var all []func(*View)
	for _, e := range events {
		all = append(all, func(v *View) { v.Truth.At = e.At; v.History.Add(e) })
	}
	remembers(v, all...)
}

func pending(v *View) {
	v.Truth.Pods[web("9")] = model.Pod{UID: "u9", Node: "node-2", Phase: "Pending", Networks: []string{netA}}
}

func TestFailedCall(t *testing.T) {
	calls := func(kind model.EventKind, change func(i int, e *model.Event)) func(*View) {
		return func(v *View) {
			pending(v)
			var all []model.Event
			for i, at := range []float64{100, 120, 140} {
				e := end(kind, "c9", at, at+10, "no lease\nbut a stack")
				if change != nil {
					change(i, &e)
				}
				all = append(all, e)
			}
			happens(v, all...)
		}
	}
	second := func(f func(*model.Event)) func(int, *model.Event) {
		return func(i int, e *model.Event) {
			if i == 1 {
				f(e)
			}
		}
	}
	const add = "ADD of default/web-9 on node-2 in network default/a, with at least 3 free at all times, has failed 3 times in a row since 1m40s: no lease"
	table(t, FailedCall, []row{
		{"three ADDs, of a sandbox each", calls(model.AddEnd, func(i int, e *model.Event) { e.Container += string(rune('a' + i)) }), add},
		{"another interface of the pod is added meanwhile", func(v *View) {
			pending(v)
			other := end(model.AddEnd, "c9", 112, 113, "")
			other.Interface = "net2"
			happens(v, end(model.AddEnd, "c9", 100, 110, "no lease"), other, end(model.AddEnd, "c9", 120, 130, "no lease"), end(model.AddEnd, "c9", 140, 150, "no lease"))
		}, add},
		{"three DELs", calls(model.DelEnd, nil), "DEL of default/web-9 on node-2 in network default/a has failed 3 times in a row since 1m40s: no lease"},

		{"three DELs, of a sandbox each", calls(model.DelEnd, func(i int, e *model.Event) { e.Container += string(rune('a' + i)) }), ""},
		{"one succeeds", calls(model.AddEnd, second(func(e *model.Event) { e.Err = "" })), ""},
		{"one succeeds among three that fail", func(v *View) {
			pending(v)
			happens(v, end(model.AddEnd, "c9", 100, 110, "no lease"), end(model.AddEnd, "c9", 120, 130, "no lease"), end(model.AddEnd, "c9", 140, 150, ""), end(model.AddEnd, "c9", 160, 170, "no lease"))
		}, ""},
		{"one is disturbed", calls(model.AddEnd, second(func(e *model.Event) { e.Disturbed = true })), ""},
		{"one has no room", calls(model.AddEnd, second(func(e *model.Event) { e.MinFree = 0 })), ""},
		{"one is refused for lack of addresses", calls(model.AddEnd, second(func(e *model.Event) { e.Exhausted = true })), ""},
		{"one is refused what it asked for", calls(model.AddEnd, second(func(e *model.Event) { e.Asked = true })), ""},
		{"within less than the time", calls(model.AddEnd, func(i int, e *model.Event) { e.Begun, e.At = sec(100+float64(i)), sec(101+float64(i)) }), ""},
		{"the pod is gone", func(v *View) {
			calls(model.AddEnd, func(_ int, _ *model.Event) { delete(v.Truth.Pods, web("9")) })(v)
		}, ""},
		{"the pod is another one by now", func(v *View) {
			start(v, "9", "node-2", "c9", netB, "10.0.0.3")
			calls(model.AddEnd, nil)(v)
		}, ""},
		{"one panics", func(v *View) {
			pending(v)
			panics := model.Event{Kind: model.ActorPanic, At: sec(130), Actor: "cni-add/default/web-9"}
			e := end(model.AddEnd, "c9", 120, 130, "panic")
			e.Actor = panics.Actor
			happens(v, panics, end(model.AddEnd, "c9", 100, 110, "no lease"), e, end(model.AddEnd, "c9", 140, 150, "no lease"))
		}, ""},
	})
}

// Upstream's error and its call site are part of the violation as data.
func TestFailedCallSaysWhere(t *testing.T) {
	v := calm()
	pending(v)
	e := end(model.AddEnd, "c9", 160, 170, "no lease")
	e.Site = model.CallSite{Module: "m@v1", Frames: []model.Frame{{Function: "m/p.F", File: "p/f.go", Line: 7}}}
	happens(v, end(model.AddEnd, "c7", 100, 110, "late"), end(model.AddEnd, "c8", 130, 140, "late"), e)
	got := FailedCall.Check(*v)
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	said, _ := model.FactOf[string](got[0].Facts, "error")
	site, _ := model.FactOf[model.CallSite](got[0].Facts, "site")
	if got[0].Code != failedAdd || said != "no lease" || site.String() != "p.F (f.go:7)" {
		t.Errorf("%+v", got)
	}
}

func TestUnreleasedClaim(t *testing.T) {
	del := func(change func(*model.Event)) func(*View) {
		return func(v *View) {
			e := end(model.DelEnd, "c0", 50, 60, "")
			e.Pod = web("0")
			if change != nil {
				change(&e)
			}
			begin := e
			begin.Kind, begin.At = model.AddBegin, e.Begun
			happens(v, begin, e)
		}
	}
	removed := func(del func(*View)) func(*View) {
		return func(v *View) {
			del(v)
			happens(v, model.Event{Kind: model.SandboxRemoved, Container: "c0", Node: "node-2", Pod: web("0"), At: sec(90)})
		}
	}
	const red = "10.0.0.1 stays claimed in pool 10.0.0.0-28 for default/web-0 (container c0), though its DEL on node-2 succeeded at 1m0s and the sandbox is removed"
	rows := []row{
		{"a DEL that succeeds", del(nil), red},
		{"a fault meets it, and it says that it is done", del(func(e *model.Event) { e.Disturbed = true }), red},

		{"it fails", del(func(e *model.Event) { e.Err = "no answer" }), ""},
		{"of another container", del(func(e *model.Event) { e.Container = "c7" }), ""},
		{"of another interface", del(func(e *model.Event) { e.Interface = "net2" }), ""},
		{"of another network's pools", del(func(e *model.Event) { e.Network = netD }), ""},
		{"an ADD of the container is under way again", func(v *View) { busy(v, "c0", "0", "node-1", false, sec(59)); del(nil)(v) }, ""},
		{"an ADD", del(func(e *model.Event) { e.Kind = model.AddEnd }), ""},
		{"the claim goes with it", func(v *View) { unclaim(v, "10.0.0.1"); del(nil)(v) }, ""},
	}
	for i := range rows {
		rows[i].change = removed(rows[i].change)
	}
	table(t, UnreleasedClaim, append(rows,
		row{"and a reconciler that comes too late", func(v *View) { removed(del(nil))(v); unclaim(v, "10.0.0.1"); v.Past.Note(*v) }, red},
		row{"the runtime will call it again", del(nil), ""},
	))
}

func TestReservationCount(t *testing.T) {
	begin := func(v *View) {
		v.History.Add(model.Event{Kind: model.AddBegin, Pod: web("9"), Container: "c9", Network: netA, Interface: "net1", At: v.Truth.At})
		busy(v, "c9", "9", "node-2", false, v.Truth.At)
	}
	reserves := func(v *View) {
		reserve(v, "10.0.0.5", "9")
		v.Record.Reservations[len(v.Record.Reservations)-1].Interface = "net1"
	}
	claims := func(v *View) { claim(v, "10.0.0.0-28", "10.0.0.5", "9", "c9") }
	ends := func(kind model.EventKind, change func(*model.Event)) func(*View) {
		return func(v *View) {
			delete(v.Truth.Busy, "c9")
			e := end(kind, "c9", 60, 60, "")
			e.Addrs = nil
			if change != nil {
				change(&e)
			}
			v.History.Add(e)
		}
	}
	unclaims := func(v *View) { unclaim(v, "10.0.0.5") }
	later := func(v *View) { v.Truth.At += sec(31) }
	see := func(all ...func(*View)) func(*View) { return func(v *View) { remembers(v, all...) } }
	const (
		never = "10.0.0.5 stays reserved for default/web-9 across overlapping ranges (10.0.0.5) after its ADD at 1m0s, and was never claimed for it"
		over  = "10.0.0.5 stays reserved for default/web-9 across overlapping ranges (10.0.0.5) after its DEL at 1m0s, and is no longer claimed"
	)
	table(t, ReservationCount, []row{
		{"never claimed", see(begin, reserves, ends(model.AddEnd, nil), later), never},
		{"released, and still reserved", see(begin, reserves, claims, ends(model.AddEnd, nil), unclaims, ends(model.DelEnd, nil), later), over},
		{"claimed in the very step in which the ADD ends", see(begin, reserves, func(v *View) { claims(v); ends(model.AddEnd, nil)(v) }, unclaims, ends(model.DelEnd, nil), later), over},
		{"reserved already, for an address that it had", see(reserves, begin, claims, ends(model.AddEnd, nil), unclaims, ends(model.DelEnd, nil), later), over},

		{"claimed", see(begin, reserves, claims, ends(model.AddEnd, nil), later), ""},
		{"a moment ago", see(begin, reserves, ends(model.AddEnd, nil)), ""},
		{"dropped in time", see(begin, reserves, ends(model.AddEnd, nil), func(v *View) { unreserve(v, "10.0.0.5") }, later), ""},
		{"the next call is under way", see(begin, reserves, ends(model.AddEnd, nil), begin, later), ""},
		{"the next call has ended a moment ago", see(begin, reserves, ends(model.AddEnd, nil), begin, later, func(v *View) { delete(v.Truth.Busy, "c9") }), ""},
		{"the call fails", see(begin, reserves, ends(model.AddEnd, func(e *model.Event) { e.Err = "no answer" }), later), ""},
		{"the call is disturbed", see(begin, reserves, ends(model.AddEnd, func(e *model.Event) { e.Disturbed = true }), later), ""},
		{"what others had left", see(reserves, begin, ends(model.AddEnd, nil), later), ""},
	})
}

func TestHandleCountAfterCalls(t *testing.T) {
	begin := func(v *View) {
		v.History.Add(model.Event{Kind: model.AddBegin, Pod: web("9"), Container: "c9", Network: netK, Interface: "eth0", At: v.Truth.At})
		busy(v, "c9", "9", "node-1", false, v.Truth.At)
	}
	counts := func(v *View) {
		v.Record.Handles = append(v.Record.Handles, model.Handle{ID: "net.c9", Counts: []model.HandleCount{{Block: cidr("10.7.0.0/26"), Count: 1}}})
	}
	claims := func(v *View) {
		claim(v, "10.7.0.0/26", "10.7.0.9", "9", "c9")
		v.Record.Claims[len(v.Record.Claims)-1].Handle = "net.c9"
	}
	ends := func(kind model.EventKind) func(*View) {
		return func(v *View) {
			delete(v.Truth.Busy, "c9")
			e := end(kind, "c9", 60, 60, "")
			e.Network, e.Interface = netK, "eth0"
			v.History.Add(e)
		}
	}
	later := func(v *View) { v.Truth.At += sec(31) }
	code := func(want string, all ...func(*View)) {
		t.Helper()
		v := calmBlocks()
		remembers(v, all...)
		got := HandleCount.Check(*v)
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0].Code != want) {
			t.Errorf("want %q, have %v", want, got)
		}
		if want != "" {
			judgedAs(t, HandleCount, want)
		}
	}
	unclaims := func(v *View) { unclaim(v, "10.7.0.9") }
	code(neverClaimed, begin, counts, ends(model.AddEnd), later)
	code(nothingClaimed, begin, counts, claims, ends(model.AddEnd), unclaims, ends(model.DelEnd), later)
	code(CountedTooMany, begin, counts, claims, func(v *View) { v.Record.Handles[len(v.Record.Handles)-1].Counts[0].Count = 2 }, ends(model.AddEnd), later)
	code("", begin, counts, claims, ends(model.AddEnd), later)
	code("", begin, counts, ends(model.AddEnd))
	code("", begin, counts, claims, ends(model.AddEnd), unclaims, ends(model.DelEnd), func(v *View) { v.Record.Handles = v.Record.Handles[:len(v.Record.Handles)-1] }, later)
}

func TestSpinningReconciler(t *testing.T) {
	table(t, SpinningReconciler, []row{
		{"one spins", func(v *View) {
			v.Spins = []Spin{{Actors: []string{"ipam-controller"}, Request: "GET pods/default/web-0", Times: 500, Since: sec(20)}}
		}, `ipam-controller has sent "GET pods/default/web-0" 500 times within 10s, as it has since 20s, and has changed nothing`},
		{"two undo each other's writes", func(v *View) {
			v.Spins = []Spin{{Actors: []string{"lb", "lb~2"}, Row: []model.Ref{model.AddressOf(ip("10.0.0.1")), model.ServiceOf("default/web")}, Times: 40, Since: sec(20)}}
		}, `lb, lb~2 wrote 10.0.0.1 for default/web 40 times within 10s, and each time it was undone, as it has been since 20s`},
	})
}

func TestConvergenceWithoutReconcilers(t *testing.T) {
	orphan := func(v *View) { del(v, "0", "c0") }
	pass := func(kind model.EventKind, at float64) func(*View) {
		return func(v *View) { v.History.Add(model.Event{Kind: kind, Actor: "ip-reconciler", At: sec(at)}) }
	}
	all := func(f ...func(*View)) func(*View) {
		return func(v *View) {
			for _, f := range f {
				f(v)
			}
		}
	}
	const red = "after convergence 10.0.0.1 is still claimed in pool 10.0.0.0-28 for default/web-0 (container c0), which does not have it"
	table(t, Convergence, []row{
		{"one machine is left", all(orphan, func(v *View) { v.Truth.Nodes["node-1"] = model.Node{Registered: true} }), red},
		{"a background process was held up long ago", all(orphan, func(v *View) { v.Late = sec(29) }), red},
		{"the pass has ended", all(orphan, pass(model.Reconcile, 50), pass(model.Reconciled, 55)), red},
		{"the next pass is under way", all(orphan, pass(model.Reconcile, 50), pass(model.Reconciled, 55), func(v *View) {
			v.History.Add(model.Event{Kind: model.Reconcile, Actor: "ip-reconciler~2", At: sec(60)})
		}), red},

		{"no machine is left", all(orphan, func(v *View) {
			for n := range v.Truth.Nodes {
				v.Truth.Nodes[n] = model.Node{Registered: true}
			}
		}), ""},
		{"a background process was held up until a moment ago", all(orphan, func(v *View) { v.Late = sec(31) }), ""},
		{"a pass is under way", all(orphan, pass(model.Reconcile, 50)), ""},
		{"its container was heard of a moment ago", all(orphan, func(v *View) {
			v.History.Add(model.Event{Kind: model.DelEnd, At: sec(31), Container: "c0", Err: "no answer"})
		}), ""},
	})
}
