package whereabouts_test

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ipamsim/model"
	"ipamsim/model/reference/whereabouts"
)

// An import continues as the original would have: it has the same record, and assigns the same
// addresses for any further operations.
func TestRestoreContinues(t *testing.T) {
	networks := []*whereabouts.Network{
		network(t, "net", "10.0.0.0/28,!10.0.0.4/31"), network(t, "part", "10.0.0.0/29"), network(t, "two", "10.0.0.0/28 fd00::/125"),
		sliced(t),
	}
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "") }
		r := whereabouts.New()
		nodes := []string{}
		for range draw(60) {
			step(draw, networks, &nodes)(r)
		}
		twin, err := whereabouts.Restore(r.Snapshot())
		if err != nil {
			rt.Fatal(err)
		}
		if s := r.Slices(networks[3]); s != nil {
			twin.StoreSlices(*s)
		}
		for i := range draw(30) {
			if x, y := r.Snapshot(), twin.Snapshot(); !reflect.DeepEqual(x, y) {
				rt.Fatalf("after %d steps\n%+v\nis not\n%+v", i, y, x)
			}
			s := step(draw, networks, &nodes)
			if x, y := s(r), s(twin); x != y {
				rt.Fatalf("step %d: %s, not %s", i, y, x)
			}
		}
	})
}

func sliced(t *testing.T) *whereabouts.Network {
	n, err := whereabouts.NewNetwork(model.Network{Key: "default/sliced", Name: "s", Slice: 29, Ranges: []model.Range{{Prefix: netip.MustParsePrefix("10.1.0.0/28")}}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// step is an operation on a record; it returns the result.
func step(draw func(int) int, networks []*whereabouts.Network, nodes *[]string) func(*whereabouts.Record) string {
	n := networks[draw(len(networks))]
	ref := func(i int) model.PodRef { return model.PodRef{Namespace: "default", Name: fmt.Sprint("p", i)} }
	pod := draw(7)
	c := whereabouts.Call{Node: fmt.Sprint("n", draw(3)), Pod: ref(pod), Container: fmt.Sprintf("c%d-%d", pod, draw(2)), Interface: "net1"}
	addr := netip.AddrFrom4([4]byte{10, 0, 0, byte(draw(16))})
	switch draw(14) {
	case 0, 1, 2, 3, 4:
		return func(r *whereabouts.Record) string {
			got, err := r.Add(n, c)
			return fmt.Sprint(got, err)
		}
	case 5, 6, 7:
		return func(r *whereabouts.Record) string { return fmt.Sprint(r.Del(n, c)) }
	case 8:
		return func(r *whereabouts.Record) string { return fmt.Sprint(r.Release("10.0.0.0-28", addr)) }
	case 9:
		return func(r *whereabouts.Record) string { r.Reserve("", addr, c.Pod, "net1"); return "" }
	case 10:
		return func(r *whereabouts.Record) string { r.DeletePool("10.0.0.0-29"); return "" }
	case 11:
		if !slices.Contains(*nodes, c.Node) {
			*nodes = append(*nodes, c.Node)
		}
		now := slices.Clone(*nodes)
		return func(r *whereabouts.Record) string { return fmt.Sprint(r.Cut(networks[3], networks[3:], now)) }
	default:
		rule := whereabouts.Rules()[draw(4)]
		var pods []whereabouts.Pod
		for i := range 7 {
			if draw(3) > 0 {
				pods = append(pods, whereabouts.Pod{Ref: ref(i), Pending: draw(4) == 0, IPs: []string{fmt.Sprint("10.0.0.", draw(16))}})
			}
		}
		return func(r *whereabouts.Record) string { return fmt.Sprint(r.Reconcile(rule, pods)) }
	}
}

// Inputs whose result upstream leaves to the order of a Go map are refused, and so are invalid
// records.
func TestRestoreRefuses(t *testing.T) {
	good := func() model.Snapshot {
		x := netip.MustParsePrefix("10.0.0.0/29")
		return model.Snapshot{
			Pools: []model.Pool{{Name: "10.0.0.0-29", Range: x}},
			Claims: []model.Claim{
				{Pool: "10.0.0.0-29", Addr: x.Addr().Next(), Pod: web0, Container: "a", Interface: "net1"},
				{Pool: "10.0.0.0-29", Addr: x.Addr().Next().Next()},
				{Pool: "10.0.0.0-29", Addr: x.Addr().Next().Next().Next()},
			},
			Reservations: []model.Reservation{{Name: "10.0.0.1", Addr: x.Addr().Next(), Pod: web0}},
		}
	}
	if r, err := whereabouts.Restore(good()); err != nil || r.Claimed() != 3 {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func(*model.Snapshot){
		"two pools of one name":                func(s *model.Snapshot) { s.Pools = append(s.Pools, s.Pools[0]) },
		"a pool without a range":               func(s *model.Snapshot) { s.Pools[0].Range = netip.Prefix{} },
		"an allocation of no pool":             func(s *model.Snapshot) { s.Claims[0].Pool = "x" },
		"an allocation outside of its pool":    func(s *model.Snapshot) { s.Claims[0].Addr = netip.MustParseAddr("10.0.0.8") },
		"an address that is allocated twice":   func(s *model.Snapshot) { s.Claims[1].Addr = s.Claims[0].Addr },
		"two allocations of a pod's interface": func(s *model.Snapshot) { s.Claims[1].Pod, s.Claims[1].Interface = web0, "net1" },
		"two allocations of a container":       func(s *model.Snapshot) { s.Claims[1].Container, s.Claims[1].Interface = "a", "net1" },
		"a reservation of another name":        func(s *model.Snapshot) { s.Reservations[0].Name = "10.0.0.2" },
		"two reservations of one name":         func(s *model.Snapshot) { s.Reservations = append(s.Reservations, s.Reservations[0]) },
	} {
		s := good()
		spoil(&s)
		if _, err := whereabouts.Restore(s); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
}
