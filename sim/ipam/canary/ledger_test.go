package canary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/sim/ipam"
)

const network = "default/net"

func mustParse(t testing.TB, ipamSection string) policy {
	t.Helper()
	p, ok, err := parse(network, json.RawMessage(`{"type":"macvlan","ipam":`+ipamSection+`}`))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return p
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, err string }{
		{`{"type":"canary","range":"10.0.0.0/29"}`, ""},
		{`{"type":"canary","range":"fd00::/64","exclude":["fd00::/120"],"network_name":"x","slice":80}`, ""},
		{`{"type":"canary","range":"10.0.0.0/29","exclude":["10.0.0.2/32"],"bug":"excluded-address"}`, ""},
		{`{"type":"canary"}`, "range: missing"},
		{`{"type":"canary","range":"10.0.0.1/29"}`, "host bits"},
		{`{"type":"canary","range":"10.0.0.0/31"}`, "too small"},
		{`{"type":"canary","range":"10.0.0.300/29"}`, "10.0.0.300"},
		{`{"type":"canary","range":"10.0.0.0/29","rang":1}`, `unknown field "rang"`},
		{`{"type":"canary","range":"10.0.0.0/29","slice":28}`, "slice: 28"},
		{`{"type":"canary","range":"10.0.0.0/29","exclude":["10.1.0.0/32"]}`, "exclude[0]"},
		{`{"type":"canary","range":"10.0.0.0/29","network_name":"A b"}`, "network_name"},
		{`{"type":"canary","range":"10.0.0.0/29","bug":"nope"}`, `bug: "nope"`},
		{`{"type":"canary","range":"10.0.0.0/29","bug":"excluded-address"}`, "exclude: missing"},
		{`{"type":"canary","range":"10.0.0.0/30","bug":"slice-conflict"}`, "cannot be halved"},
		{`{"type":"canary","range":"0.0.0.0/0","bug":"double-claim"}`, "cannot be doubled"},
		{`{"type":"canary","range":"10.0.0.0/28","blocks":32,"strict":true,"maxBlocks":1}`, ""},
		{`{"type":"canary","range":"10.0.0.0/28","blocks":27}`, "blocks: 27"},
		{`{"type":"canary","range":"10.0.0.0/28","blocks":30,"slice":30}`, "and no slice"},
		{`{"type":"canary","range":"10.0.0.0/28","strict":true}`, "blocks: missing"},
		{`{"type":"canary","range":"10.0.0.0/28","blocks":30,"maxBlocks":-1}`, "negative"},
		{`{"type":"canary","range":"10.0.0.0/28","blocks":30,"bug":"overlap-reservation"}`, "needs a network without"},
		{`{"type":"canary","range":"10.0.0.0/30","bug":"starved-node"}`, "cannot be quartered"},
	} {
		_, ok, err := parse(network, json.RawMessage(`{"ipam":`+c.in+`}`))
		if !ok || (err == nil) != (c.err == "") || (err != nil && !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: ok %v, error %v, want %q", c.in, ok, err, c.err)
		}
	}
	for _, in := range []string{`{"ipam":{"type":"whereabouts","range":"x"}}`, `{}`, `{"ipam":{}}`, `{"ipam":7}`, `not json`, ``} {
		if _, ok, err := parse(network, json.RawMessage(in)); ok || err != nil {
			t.Errorf("%s: ok %v, error %v: it is not ours", in, ok, err)
		}
	}
}

func TestBugsAreTheInvariants(t *testing.T) {
	var want []string
	for _, i := range invariant.All() {
		want = append(want, i.Name)
	}
	if have := Bugs(); !slices.Equal(have, want) {
		t.Errorf("bugs       %v\ninvariants %v", have, want)
	}
}

// After any sequence of additions and releases, the correct ledger assigns each owner one allowed
// address of its own, answers a repeated ADD alike, and refuses exactly when model.Free is 0.
func TestLedgerLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := policy{network: model.Network{Key: network, Overlap: true}}
		prefix := netip.MustParsePrefix(rapid.SampledFrom([]string{"10.0.0.0/29", "10.0.0.0/28", "fd00::/64"}).Draw(t, "range"))
		r := model.Range{Prefix: prefix, Start: prefix.Addr().Next(), End: model.LastAddr(prefix).Prev()}
		if rapid.Bool().Draw(t, "excludes") {
			r.Exclude = []netip.Prefix{netip.PrefixFrom(prefix.Addr().Next().Next(), prefix.Addr().BitLen()-1).Masked()}
		}
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			p.network.Slice = prefix.Bits() + 1
		case 1:
			c := config{Range: prefix, Exclude: r.Exclude, Blocks: prefix.Bits() + rapid.IntRange(1, 3).Draw(t, "blocks"),
				Strict: rapid.Bool().Draw(t, "strict"), MaxBlocks: rapid.IntRange(0, 2).Draw(t, "max")}
			r.Start, r.End = prefix.Addr(), model.LastAddr(prefix)
			p.network.Overlap, p.network.Blocks = false, c.blocks()
			p.network = withNodes(p.network, []string{"node-0", "node-1"})
		}
		p.network.Ranges = []model.Range{r}
		var l ledger
		held := map[string]netip.Addr{}
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			n := rapid.IntRange(0, 9).Draw(t, "pod")
			c := call(n, "")
			if rapid.IntRange(0, 2).Draw(t, "del") == 0 {
				l.release(func(k claim) bool { return k.Container == c.Container })
				delete(held, c.Container)
				continue
			}
			if p.network.Blocks == nil {
				if _, err := l.pool(&p, c.Node); err != nil {
					continue // more nodes than slices
				}
			}
			free := model.Free([]model.Network{p.network}, snapshotOf(&l), network, c.Node)
			had, again := held[c.Container]
			a, changed, err := l.add(&p, c)
			switch {
			case err != nil && (!errors.Is(err, ipam.ErrExhausted) || free != 0):
				t.Fatalf("%v, with %d free: %+v", err, free, l)
			case err != nil:
				continue
			case again && (changed || a != had), !again && (free == 0 || !p.network.Allows(a)):
				t.Fatalf("%s got %s after %s with %d free: %+v", c.Pod, a, had, free, l)
			}
			held[c.Container] = a
		}
		seen := map[netip.Addr]bool{}
		for _, a := range held {
			if seen[a] {
				t.Fatalf("%s twice: %+v", a, l)
			}
			seen[a] = true
		}
		if len(l.Claims) != len(held) || len(l.Reservations)+len(l.Handles) != len(held) {
			t.Fatalf("%d owners, but %+v", len(held), l)
		}
	})
}

// A new sandbox of the same pod object keeps the address; the old one's DEL,
// coming late, must not release it; a new pod object of the same name gets its
// own.
func TestLedgerTakesOver(t *testing.T) {
	p := mustParse(t, `{"type":"canary","range":"10.0.0.0/29"}`)
	var l ledger
	c := call(0, "a")
	first, _, _ := l.add(&p, c)
	old := c.Container
	c.Container = "rebooted"
	if a, changed, err := l.add(&p, c); a != first || !changed || err != nil {
		t.Fatal(a, changed, err)
	}
	if l.release(func(k claim) bool { return k.Container == old }) {
		t.Fatal("a late DEL released the address of a live sandbox")
	}
	c.UID, c.Container = "other", "other"
	if a, _, err := l.add(&p, c); a == first || err != nil {
		t.Fatal(a, err)
	}
}

func call(n int, suffix string) ipam.Call {
	pod := model.PodRef{Namespace: "default", Name: fmt.Sprintf("web-%d", n)}
	return ipam.Call{Node: fmt.Sprintf("node-%d", n%2), Pod: pod, UID: "u-" + pod.Name + suffix, Container: "c-" + pod.Name + suffix, Interface: "net1", Network: network}
}

func snapshotOf(l *ledger) model.Snapshot {
	var s model.Snapshot
	l.snapshot(&s, 1)
	order(&s)
	return s
}

// play is a plain run without an API server: five pods start on two nodes, one
// is deleted, a reconciler passes. It returns the invariants that were broken.
func play(t *testing.T, section string) map[string]string {
	p := mustParse(t, section)
	if p.network.Blocks != nil {
		p.network = withNodes(p.network, []string{"node-0", "node-1"})
	}
	red := map[string]string{}
	var l ledger
	v := invariant.View{
		Truth:    model.Truth{Pods: map[model.PodRef]model.Pod{}, Nodes: map[string]model.Node{}, Busy: map[string]model.Busy{}},
		Networks: []model.Network{p.network}, History: &model.History{},
		Settings: invariant.Settings{LeakAfter: time.Minute, StuckAfter: 3 * time.Minute}, Past: &invariant.Past{},
	}
	judge := func(last invariant.Phase) {
		v.Record = snapshotOf(&l)
		v.Past.Note(v)
		for _, i := range invariant.All() {
			for _, f := range i.Check(v) {
				if i.Phase <= last {
					red[i.Name] = i.Say(&f)
				}
			}
		}
		v.Truth.At += time.Second
	}
	for n := range 5 {
		start(&v, &l, &p, call(n, ""), func() { judge(invariant.Always) })
	}
	c := call(1, "")
	v.Truth.Busy[c.Container] = model.Busy{Pod: c.Pod, Node: c.Node, Del: true, Since: v.Truth.At}
	v.History.Add(event(model.DelBegin, &v, c))
	l.release(func(k claim) bool { return k.Container == c.Container })
	judge(invariant.Always)
	delete(v.Truth.Busy, c.Container)
	v.History.Add(event(model.DelEnd, &v, c))
	delete(v.Truth.Pods, c.Pod)
	for i, s := range v.Truth.Sandboxes {
		if s.ID == c.Container {
			v.Truth.Sandboxes = append(v.Truth.Sandboxes[:i:i], v.Truth.Sandboxes[i+1:]...)
			break
		}
	}
	v.History.Add(model.Event{Kind: model.SandboxDown, Container: c.Container, At: v.Truth.At})
	v.History.Add(model.Event{Kind: model.SandboxRemoved, Container: c.Container, Node: c.Node, At: v.Truth.At})
	judge(invariant.Always)
	v.Truth.At += 5 * time.Minute
	l.release(func(k claim) bool { _, ok := v.Truth.Pods[podRef(k.Pod)]; return !ok })
	judge(invariant.Quiescent)
	return red
}

func event(kind model.EventKind, v *invariant.View, c ipam.Call) model.Event {
	return model.Event{Kind: kind, At: v.Truth.At, Begun: v.Truth.At, Pod: c.Pod, Node: c.Node, Container: c.Container, Network: network, Interface: c.Interface}
}

func start(v *invariant.View, l *ledger, p *policy, c ipam.Call, judge func()) {
	v.Truth.Nodes[c.Node] = model.Node{Up: true, Registered: true}
	pod := model.Pod{UID: c.UID, Node: c.Node, Phase: "Pending", Networks: []string{network}}
	v.Truth.Pods[c.Pod] = pod
	v.Truth.Busy[c.Container] = model.Busy{Pod: c.Pod, Node: c.Node, Since: v.Truth.At}
	v.History.Add(event(model.AddBegin, v, c))
	judge()
	defer judge()
	defer delete(v.Truth.Busy, c.Container)
	defer func() {
		if r := recover(); r != nil {
			v.History.Add(model.Event{Kind: model.ActorPanic, Actor: "cni-add/" + c.Pod.Name, Err: fmt.Sprint(r)})
		}
	}()
	free := model.Free(v.Networks, snapshotOf(l), network, c.Node)
	var addr netip.Addr
	var err error
	if f := bugs[p.bug].begin; f != nil {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		err = f(ctx, l)
	}
	if errors.Is(err, context.Canceled) { // it hangs until it is killed
		v.Truth.At += 4 * time.Minute
		judge()
		return
	}
	if err == nil {
		addr, _, err = l.add(p, c)
	}
	end := event(model.AddEnd, v, c)
	end.MinFree = free
	if err != nil {
		end.Err, end.Exhausted = err.Error(), errors.Is(err, ipam.ErrExhausted)
		for range 4 { // as a kubelet tries
			v.History.Add(end)
			v.Truth.At += 20 * time.Second
			end.At, end.Begun = v.Truth.At, v.Truth.At
			judge()
		}
		return
	}
	v.History.Add(end)
	pod.Phase = "Running"
	v.Truth.Pods[c.Pod] = pod
	v.Truth.Sandboxes = append(v.Truth.Sandboxes, model.Sandbox{ID: c.Container, Pod: c.Pod, UID: c.UID, Node: c.Node,
		Attachments: []model.Attachment{{Network: network, Interface: "net1", Addrs: []netip.Addr{addr}, Since: v.Truth.At}}})
}

// alsoRed are the invariants that a bug breaks in addition to its own, as a consequence.
var alsoRed = map[string]string{
	"actor-crash":          "convergence",                                         // the pod never starts
	"block-owner":          "affinity-mismatch",                                   // of two owners one is wrong
	"double-claim":         "convergence",                                         // the second claim has no owner
	"failed-call":          "convergence",                                         // the pod never starts
	"leaked-claim":         "convergence, unreleased-claim",                       // a leak is a claim without owner
	"leftover-reservation": "reservation-count",                                   // it was left over by a call
	"reservation-count":    "leftover-reservation",                                // and stays so
	"spurious-exhaustion":  "convergence",                                         // the pod never starts
	"stuck":                "convergence",                                         // the pod never starts
	"unbacked-sandbox":     "convergence, overlap-reservation, reservation-count", // and the next DEL drops the reservation that has no claim
	"unreleased-claim":     "convergence, leaked-claim",                           // a claim without owner
}

// outside are the bugs that no ledger of a plain run shows.
var outside = map[string]string{
	"blackholed-address":   "red by routing tables only",
	"duplicate-cluster-ip": "red where the record is observed", "duplicate-node-port": "red where the record is observed",
	"crash-loop":                  "red by a daemon",
	"config-status":               "red where the record is observed",
	"disallowed-load-balancer-ip": "red where the record is observed", "duplicate-load-balancer-ip": "red where the record is observed", "leaked-load-balancer-ip": "red where the record is observed", "pool-status": "red where the record is observed",
	"surplus-load-balancer-ip": "red where the record is observed", "unserved-load-balancer": "red where the record is observed",
	"leaked-service-claim": "red where the record is observed", "refused-service": "red where the record is observed",
	"service-families": "red where the record is observed", "service-node-ports": "red where the record is observed", "unbacked-service": "red where the record is observed",
	"spinning-reconciler": "red by requests only",
	"unassigned-node":     "red after a bound that a plain run does not come to",
}

func TestEveryBugIsSeen(t *testing.T) {
	for _, b := range append(Bugs(), "") {
		t.Run("bug "+b, func(t *testing.T) {
			if why := outside[b]; why != "" {
				t.Skipf("%s is %s: see scenarios/canary_test.go", b, why)
			}
			red := play(t, fmt.Sprintf(`{"type":"canary","range":"10.0.0.0/28","exclude":["10.0.0.14/32"]%s,"bug":%q}`, needs[b], b))
			if b != "" && red[b] == "" {
				t.Errorf("%s stayed green", b)
			}
			delete(red, b)
			for name, m := range red {
				if !strings.Contains(alsoRed[b], name) {
					t.Errorf("%s is red too: %s", name, m)
				}
			}
		})
	}
}

// needs is the additional configuration of the network that a bug needs, with its blocks.
var needs = map[string]string{"strict-affinity": `,"blocks":29,"strict":true`, "max-blocks": `,"blocks":30,"maxBlocks":1`}

func TestBlocksWithoutBug(t *testing.T) {
	for _, section := range []string{`"blocks":30`, `"blocks":29,"strict":true`, `"blocks":31,"maxBlocks":2`, `"blocks":28`} {
		for name, m := range play(t, `{"type":"canary","range":"10.0.0.0/28",`+section+`}`) {
			t.Errorf("%s: %s is red: %s", section, name, m)
		}
	}
}
