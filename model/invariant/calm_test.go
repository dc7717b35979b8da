package invariant

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"ipamsim/model"
)

const (
	netA = "default/a" // guarded, unnamed, 10.0.0.0/28
	netB = "default/b" // guarded, unnamed, 10.0.0.0/27: overlaps a
	netC = "default/c" // not guarded, the range of a: the same pool
	netD = "default/d" // not guarded, named, the range of a: another pool
	netS = "default/s" // node slices of 10.9.0.0/24
)

func ip(s string) netip.Addr      { return netip.MustParseAddr(s) }
func cidr(s string) netip.Prefix  { return netip.MustParsePrefix(s) }
func web(n string) model.PodRef   { return model.PodRef{Namespace: "default", Name: "web-" + n} }
func sec(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
func within(p, from, to string, exclude ...netip.Prefix) []model.Range {
	return []model.Range{{Prefix: cidr(p), Start: ip(from), End: ip(to), Exclude: exclude}}
}

// calm is a cluster in order after one minute: web-0 on node-1 with 10.0.0.1 and
// web-1 on node-2 with 10.0.0.2, both in network a, claimed and reserved.
func calm() *View {
	v := &View{
		Networks: []model.Network{
			{Key: netA, Ranges: within("10.0.0.0/28", "10.0.0.1", "10.0.0.14", cidr("10.0.0.8/30")), Overlap: true},
			{Key: netB, Ranges: within("10.0.0.0/27", "10.0.0.1", "10.0.0.30"), Overlap: true},
			{Key: netC, Ranges: within("10.0.0.0/28", "10.0.0.1", "10.0.0.14")},
			{Key: netD, Name: "d", Ranges: within("10.0.0.0/28", "10.0.0.1", "10.0.0.14")},
			{Key: netS, Ranges: within("10.9.0.0/24", "10.9.0.1", "10.9.0.254"), Slice: 26},
		},
		Truth: model.Truth{
			At:    sec(60),
			Pods:  map[model.PodRef]model.Pod{},
			Nodes: map[string]model.Node{"node-1": {Up: true, Registered: true}, "node-2": {Up: true, Registered: true}},
			Busy:  map[string]model.Busy{},
		},
		Record: model.Snapshot{Pools: []model.Pool{
			{Name: "10.0.0.0-27", Range: cidr("10.0.0.0/27")},
			{Name: "10.0.0.0-28", Range: cidr("10.0.0.0/28")},
			{Name: "d-10.0.0.0-28", Network: "d", Range: cidr("10.0.0.0/28")},
		}},
		History:  &model.History{},
		Settings: Settings{LeakAfter: sec(30), StuckAfter: sec(30)},
	}
	start(v, "0", "node-1", "c0", netA, "10.0.0.1")
	start(v, "1", "node-2", "c1", netA, "10.0.0.2")
	claim(v, "10.0.0.0-28", "10.0.0.1", "0", "c0")
	claim(v, "10.0.0.0-28", "10.0.0.2", "1", "c1")
	reserve(v, "10.0.0.1", "0")
	reserve(v, "10.0.0.2", "1")
	return v
}

// start adds a pod with a live sandbox, ten seconds into the run.
func start(v *View, pod, node, container, network string, addrs ...string) *model.Sandbox {
	a := model.Attachment{Network: network, Interface: "net1", Since: sec(10)}
	for _, s := range addrs {
		a.Addrs = append(a.Addrs, ip(s))
	}
	v.Truth.Pods[web(pod)] = model.Pod{UID: "u" + container, Node: node, Phase: "Running", Networks: []string{network}}
	v.Truth.Sandboxes = append(v.Truth.Sandboxes, model.Sandbox{
		ID: container, Pod: web(pod), UID: "u" + container, Node: node, Since: sec(9), Attachments: []model.Attachment{a},
	})
	v.History.Add(model.Event{Kind: model.SandboxUp, At: sec(9), Container: container, Pod: web(pod), Node: node})
	return &v.Truth.Sandboxes[len(v.Truth.Sandboxes)-1]
}

// stop takes the sandbox of a container away, twenty seconds into the run.
func stop(v *View, container string) {
	v.Truth.Sandboxes = slices.DeleteFunc(v.Truth.Sandboxes, func(s model.Sandbox) bool { return s.ID == container })
	v.History.Add(model.Event{Kind: model.SandboxDown, At: sec(20), Container: container})
}

// del takes pod object and sandbox away.
func del(v *View, pod, container string) { delete(v.Truth.Pods, web(pod)); stop(v, container) }

func claim(v *View, pool, addr, pod, container string) {
	c := model.Claim{Pool: pool, Addr: ip(addr), Pod: web(pod), Container: container, Interface: "net1"}
	for _, p := range v.Record.Pools {
		if p.Name == pool {
			c.Network = p.Network
		}
	}
	v.Record.Claims = append(v.Record.Claims, c)
}

func unclaim(v *View, addr string) {
	v.Record.Claims = slices.DeleteFunc(v.Record.Claims, func(c model.Claim) bool { return c.Addr == ip(addr) })
}

func reserve(v *View, addr, pod string) {
	v.Record.Reservations = append(v.Record.Reservations, model.Reservation{Name: addr, Addr: ip(addr), Pod: web(pod)})
}

func unreserve(v *View, addr string) {
	v.Record.Reservations = slices.DeleteFunc(v.Record.Reservations, func(r model.Reservation) bool { return r.Addr == ip(addr) })
}

func busy(v *View, container, pod, node string, del bool, since time.Duration) {
	v.Truth.Busy[container] = model.Busy{Pod: web(pod), Node: node, Del: del, Since: since}
}

// row is a change of the calm cluster. Red is the message that the invariant
// under test must then print; "" means that it must stay silent.
type row struct {
	name   string
	change func(*View)
	red    string
}

func table(t *testing.T, i Invariant, rows []row) {
	t.Helper()
	tableOf(t, calm, i, rows)
}

func tableOf(t *testing.T, calm func() *View, i Invariant, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			v := calm()
			r.change(v)
			got := i.Check(*v)
			if r.red == "" {
				for _, f := range got {
					t.Errorf("false alarm: %s %q", i.Say(&f), f.Objects)
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("want 1 violation, have %d: %v", len(got), got)
			}
			f := got[0]
			if have := i.Say(&f); have != r.red {
				t.Errorf("message\nhave %s\nwant %s", have, r.red)
			}
			judgedAs(t, i, f.Code)
			if f.Invariant != i.Name || f.Severity != i.Severity || len(f.Objects) == 0 || !slices.IsSortedFunc(f.Objects, model.Ref.Compare) {
				t.Errorf("incomplete: %+v", f)
			}
		})
	}
}
