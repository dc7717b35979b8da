package record

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/model"
	"ipamsim/model/recording"
	"ipamsim/reports"
)

// reel is a recording written row by row.
type reel struct {
	rec  *recording.Recorder
	step int
}

func newReel() *reel {
	return &reel{rec: recording.NewRecorder([]recording.Table{
		{Name: "claims", Columns: []string{"address", "network", "pod", "container", "node", "kind", "handle"}},
		{Name: "sandboxes", Columns: []string{"container", "pod", "node", "address", "network", "kind"}},
		{Name: "busy", Columns: []string{"call", "pod"}},
		{Name: "nodes", Columns: []string{"node", "registered"}},
		{Name: "reach", Columns: []string{"from", "to", "addresses"}},
	})}
}

// cut ends a step, which takes a second.
func (r *reel) cut() {
	r.rec.Cut(r.step, time.Duration(r.step)*time.Second)
	r.step++
}

func (r *reel) claim(addr, pod, container string) {
	r.rec.Put(0, addr, addr, "default/net", pod, container, "", "", "")
}

func (r *reel) live(addr, pod, container, node string) {
	r.rec.Put(1, container, container, pod, node, addr, "default/net", "")
}

// bands are the spans of an address in short: kind from-to who.
func (r *reel) bands(t *testing.T, blackholeAfter time.Duration) map[string][]string {
	t.Helper()
	rep := &reports.Report{Recording: r.rec.Recording(), Virtual: time.Duration(r.step) * time.Second, BlackholeAfter: blackholeAfter, Networks: []model.Network{{Key: "default/net"}}}
	out := map[string][]string{}
	for _, h := range addresses(rep) {
		for _, s := range h.Spans {
			out[h.Addr] = append(out[h.Addr], string(s.Kind)+" "+s.Since.String()+"-"+s.Until.String()+" "+s.Pod)
		}
	}
	return out
}

// The history of an address: claimed, then alive; taken away from under it, given to
// another, and left behind when that one dies.
func TestAddresses(t *testing.T) {
	r := newReel()
	r.cut() // 0
	r.rec.Put(2, "c0", "ADD", "default/web-0")
	r.claim("10.0.0.1", "default/web-0", "c0")
	r.cut() // 1: claimed during its ADD, no leak
	r.live("10.0.0.1", "default/web-0", "c0", "a")
	r.rec.Drop(2, "c0")
	r.cut() // 2: alive
	r.rec.Drop(0, "10.0.0.1")
	r.cut() // 3: taken away
	r.claim("10.0.0.1", "default/web-1", "c1")
	r.live("10.0.0.1", "default/web-1", "c1", "b")
	r.cut() // 4: twice
	r.rec.Put(2, "c0", "DEL", "default/web-0")
	r.cut() // 5: the first one is on its way out
	r.rec.Drop(1, "c0")
	r.rec.Drop(2, "c0")
	r.cut() // 6
	r.rec.Drop(1, "c1")
	r.cut() // 7: left behind
	r.rec.Drop(0, "10.0.0.1")
	r.cut() // 8
	want := map[string][]string{"10.0.0.1": {
		"claimed 1s-3s default/web-0",
		"live 2s-6s default/web-0",
		"unbacked 3s-5s default/web-0",
		"claimed 4s-8s default/web-1",
		"duplicate 4s-5s default/web-0, default/web-1",
		"live 4s-7s default/web-1",
		"leaked 7s-8s default/web-1",
	}}
	if d := cmp.Diff(want, r.bands(t, 0)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A loss of routes is a band if it lasts; claims that say nothing of an owner, or
// whose pod continues in another container, are not left behind; a tunnel's address
// is its node's as long as there is such a node.
func TestAddressesOfOthers(t *testing.T) {
	r := newReel()
	r.rec.Put(3, "a", "a", "yes")
	r.claim("10.0.0.1", "default/web-0", "c0")
	r.live("10.0.0.1", "default/web-0", "c0~2", "a")
	r.claim("10.0.0.2", "", "")
	r.rec.Put(0, "t", "10.0.0.3", "default/net", "", "", "a", "tunnel", "vxlan-a")
	r.rec.Put(4, "b a", "b", "a", "10.0.0.1")
	r.cut() // 0
	r.rec.Drop(4, "b a")
	r.cut() // 1
	r.rec.Put(4, "b a", "b", "a", "10.0.0.9 10.0.0.1")
	r.cut() // 2
	r.rec.Put(3, "a", "a", "no")
	r.cut() // 3
	r.cut() // 4
	want := map[string][]string{
		"10.0.0.1": {"claimed 0s-5s default/web-0", "live 0s-5s default/web-0", "blackholed 2s-5s default/web-0"},
		"10.0.0.2": {"claimed 0s-5s "},
		"10.0.0.3": {"claimed 0s-5s tunnel of a", "leaked 3s-5s tunnel of a"},
	}
	if d := cmp.Diff(want, r.bands(t, time.Second)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
