package invariant

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/model"
	"ipamsim/model/route"
	"ipamsim/model/route/fib"
)

// lost makes node-2 fail to reach 10.0.0.1 of web-0 on node-1, since 20 s into the run; change
// modifies the loss.
func lost(change func(*View, *route.Loss)) func(*View) {
	return func(v *View) {
		v.Settings.BlackholeAfter = sec(10)
		l := route.Loss{
			From: "node-2", To: ip("10.0.0.1"), On: "node-1", At: "node-3", How: fib.Blackholed,
			Route: "blackhole 10.0.0.0/26 proto bird", Since: sec(20),
		}
		v.Truth.Nodes["node-3"] = model.Node{Up: true, Registered: true}
		change(v, &l)
		v.Losses = append(v.Losses, l)
	}
}

func TestBlackholedAddress(t *testing.T) {
	as := func(change func(*route.Loss)) func(*View) {
		return lost(func(_ *View, l *route.Loss) { change(l) })
	}
	with := func(change func(*View)) func(*View) {
		return lost(func(v *View, _ *route.Loss) { change(v) })
	}
	table(t, BlackholedAddress, []row{
		{"on its way", as(func(*route.Loss) {}),
			`node-2 cannot reach 10.0.0.1 on node-1 (default/web-0) since 20s: dropped at node-3 by "blackhole 10.0.0.0/26 proto bird"`},
		{"by the source itself", as(func(l *route.Loss) { l.At = "node-2" }),
			`node-2 cannot reach 10.0.0.1 on node-1 (default/web-0) since 20s: dropped on the node itself by "blackhole 10.0.0.0/26 proto bird"`},
		{"the answer", as(func(l *route.Loss) { l.Back = true }),
			`node-2 gets no answer from 10.0.0.1 on node-1 (default/web-0) since 20s: dropped at node-3 by "blackhole 10.0.0.0/26 proto bird"`},
		{"some flows", as(func(l *route.Loss) { l.Some = true }),
			`some flows of node-2 do not reach 10.0.0.1 on node-1 (default/web-0) since 20s: dropped at node-3 by "blackhole 10.0.0.0/26 proto bird"`},
		{"some answers", as(func(l *route.Loss) { l.Some, l.Back = true, true }),
			`some flows of node-2 get no answer from 10.0.0.1 on node-1 (default/web-0) since 20s: dropped at node-3 by "blackhole 10.0.0.0/26 proto bird"`},
		{"no route at a router", as(func(l *route.Loss) { l.At, l.How, l.Route = "tor1", fib.Unreachable, "" }),
			"node-2 cannot reach 10.0.0.1 on node-1 (default/web-0) since 20s: unreachable, no route for it at tor1"},
		{"a circle", as(func(l *route.Loss) { l.How, l.Route = fib.Looping, "10.0.0.0/26 via 10.1.0.1 dev eth0 proto bird" }),
			`node-2 cannot reach 10.0.0.1 on node-1 (default/web-0) since 20s: it loops at node-3 by "10.0.0.0/26 via 10.1.0.1 dev eth0 proto bird"`},
		{"a dead next hop", func(v *View) {
			as(func(l *route.Loss) { l.How, l.Route = fib.Dead, "10.0.0.1 via 10.1.0.9 dev eth0 proto bird" })(v)
			v.Truth.At += route.Hold
		},
			`node-2 cannot reach 10.0.0.1 on node-1 (default/web-0) since 20s: "10.0.0.1 via 10.1.0.9 dev eth0 proto bird" is the way at node-3, and nothing answers there`},
		{"daemons had their time since", with(func(v *View) { v.Held = map[string]time.Duration{"node-1": sec(49), "node-3": sec(60)} }),
			`node-2 cannot reach 10.0.0.1 on node-1 (default/web-0) since 20s: dropped at node-3 by "blackhole 10.0.0.0/26 proto bird"`},
		{"the pod is younger than the loss", with(func(v *View) { v.Truth.Sandboxes[0].Attachments[0].Since = sec(49) }),
			`node-2 cannot reach 10.0.0.1 on node-1 (default/web-0) since 49s: dropped at node-3 by "blackhole 10.0.0.0/26 proto bird"`},

		{"routes may still spread", as(func(l *route.Loss) { l.Since = sec(50) }), ""},
		{"the pod is new", with(func(v *View) { v.Truth.Sandboxes[0].Attachments[0].Since = sec(50) }), ""},
		{"the neighbours of a dead next hop hold on to it", as(func(l *route.Loss) { l.How, l.Route = fib.Dead, "10.0.0.1 via 10.1.0.9 dev eth0 proto bird" }), ""},
		{"a daemon of its node waits for an answer that was lost", with(func(v *View) { v.Held = map[string]time.Duration{"node-1": sec(70)} }), ""},
		{"one of the source has only just got one", with(func(v *View) { v.Held = map[string]time.Duration{"node-2": sec(50)} }), ""},
		{"no bound", with(func(v *View) { v.Settings.BlackholeAfter = 0 }), ""},
		{"the source has no power", with(func(v *View) { v.Truth.Nodes["node-2"] = model.Node{Registered: true} }), ""},
		{"a DEL is under way", with(func(v *View) { busy(v, "c0", "0", "node-1", true, sec(59)) }), ""},
		{"the sandbox is gone", with(func(v *View) { stop(v, "c0") }), ""},
		{"another node's sandbox has the address by now", as(func(l *route.Loss) { l.On = "node-9" }), ""},
	})
}

// The identity of a loss is address, pod, source and the place where it ends: a later check finds
// the same violation.
func TestBlackholedObjects(t *testing.T) {
	v := calm()
	lost(func(v *View, l *route.Loss) {
		other := *l
		other.From, other.At = "node-1", "tor1"
		v.Losses = append(v.Losses, other)
	})(v)
	var got []string
	for _, f := range BlackholedAddress.Check(*v) {
		got = append(got, fmt.Sprint(f.Objects))
	}
	want := []string{
		"[address 10.0.0.1 node node-1 pod default/web-0 router tor1]",
		"[address 10.0.0.1 node node-2 node node-3 pod default/web-0]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("have %q\nwant %q", got, want)
	}
}

func TestCodesOfBlackholedAddress(t *testing.T) {
	var got []string
	for _, how := range []fib.End{fib.Blackholed, fib.Unreachable, fib.Looping, fib.Dead} {
		for _, some := range []bool{false, true} {
			for _, back := range []bool{false, true} {
				for _, at := range []string{"node-3", "node-2"} {
					v := calm()
					lost(func(v *View, l *route.Loss) {
						l.How, l.Some, l.Back, l.At = how, some, back, at
						v.Truth.At += route.Hold
					})(v)
					for _, x := range BlackholedAddress.Check(*v) {
						judgedAs(t, BlackholedAddress, x.Code)
						if !slices.Contains(got, x.Code) {
							got = append(got, x.Code)
						}
					}
				}
			}
		}
	}
	want := strings.Fields(`
		dropped dropped-at-source reply-dropped
		some-flows-dropped some-flows-dropped-at-source some-flows-reply-dropped
		no-route no-route-at-source reply-no-route
		some-flows-no-route some-flows-no-route-at-source some-flows-reply-no-route
		routing-loop routing-loop-at-source reply-routing-loop
		some-flows-routing-loop some-flows-routing-loop-at-source some-flows-reply-routing-loop
		dead-next-hop dead-next-hop-at-source reply-dead-next-hop
		some-flows-dead-next-hop some-flows-dead-next-hop-at-source some-flows-reply-dead-next-hop`)
	if !slices.Equal(got, want) {
		t.Errorf("have %q\nwant %q", got, want)
	}
}
