package services

import (
	"errors"
	"net/netip"
	"strconv"
	"testing"

	"ipamsim/model"
	"ipamsim/model/capacity"
)

// Bands from upstream's own tables (TestCalculateRangeOffset of both allocators).
func TestBands(t *testing.T) {
	for text, want := range map[string]int{"10.0.0.0/29": 0, "10.0.0.0/28": 0, "10.0.0.0/27": 16, "10.0.0.0/24": 16, "10.0.0.0/23": 32, "10.0.0.0/12": 256, "fd00::/112": 256} {
		if got := Band(netip.MustParsePrefix(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// opened is an allocator, and a Service of a number.
func opened(c *Config) (*allocator, func(n int) *capacity.Pod) {
	a := &allocator{Config: c, chance: func() {}, held: map[string]hold{}, used: len(c.Taken), ports: c.Last - c.First + 1}
	for _, r := range c.Ranges {
		a.cidrs = append(a.cidrs, newCIDR(r, c.Taken))
	}
	return a, func(n int) *capacity.Pod {
		name := "s" + strconv.Itoa(n)
		return &capacity.Pod{Ref: model.PodRef{Namespace: "default", Name: name}, Container: name}
	}
}

// A /27 has 30 usable addresses. 16 of them are the static band, and two of the band are
// taken. The other 14 are assigned first, and a released one is assigned before the band.
func TestBandGoesLast(t *testing.T) {
	c := &Config{Ranges: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/27")}, Taken: []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.10")}}
	a, pod := opened(c)
	for n := range 14 {
		if addrs, err := a.add(pod(n)); err != nil || len(addrs) != 1 || c.InBand(addrs[0]) {
			t.Fatalf("%d: %v %v", n, addrs, err)
		}
	}
	if _, err := a.add(pod(14)); err != nil || a.count().InBand != 1 || a.count().InUse != 17 {
		t.Fatalf("%v %+v", err, a.count())
	}
	if err := a.del(nil, "s3"); err != nil {
		t.Fatal(err)
	}
	if addrs, err := a.add(pod(15)); err != nil || c.InBand(addrs[0]) {
		t.Fatalf("%v %v", addrs, err)
	}
	for n := 16; n < 29; n++ {
		if _, err := a.add(pod(n)); err != nil {
			t.Fatalf("%d: %v", n, err)
		}
	}
	if _, err := a.add(pod(29)); !errors.Is(err, capacity.ErrNoAddress) || a.count().InBand != 14 || a.count().InUse != 30 {
		t.Fatalf("%v %+v", err, a.count())
	}
	seen := map[netip.Addr]bool{}
	for _, x := range a.record().Claims {
		if first, last := Ends(c.Ranges[0]); seen[x.Addr] || x.Addr.Less(first) || last.Less(x.Addr) {
			t.Errorf("%s", x.Addr)
		}
		seen[x.Addr] = true
	}
	if len(seen) != 30 {
		t.Errorf("%d claims", len(seen))
	}
}

// A Service that cannot have all that it asks for has nothing.
func TestAllOrNothing(t *testing.T) {
	c := &Config{
		Ranges: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24"), netip.MustParsePrefix("fd00::/126")}, // of the second, three
		First:  30000, Last: 30004, LoadBalancer: 1, Local: 1, Dual: 1, Ports: 1,
	}
	a, pod := opened(c)
	for n, want := range []bool{true, true, false} { // two ports each, of five
		if addrs, err := a.add(pod(n)); (err == nil) != want || err == nil && len(addrs) != 2 {
			t.Fatalf("%d: %v %v", n, addrs, err)
		}
	}
	if got := a.count(); got.InUse != 4 || got.NodePorts != 4 {
		t.Errorf("%+v", got)
	}
	c.LoadBalancer, c.Local = 0, 0
	if _, err := a.add(pod(3)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.add(pod(4)); !errors.Is(err, capacity.ErrNoAddress) || a.count().InUse != 6 {
		t.Fatalf("%v %+v", err, a.count())
	}
	for _, s := range []string{"s0", "s1", "s3", "s4"} {
		if err := a.del(nil, s); err != nil {
			t.Fatal(err)
		}
	}
	if got := a.count(); got.InUse != 0 || got.NodePorts != 0 || a.ports != 5 {
		t.Errorf("%+v, %d ports", got, a.ports)
	}
}

// Types come in the shares that are asked for, and the same for a name in every option.
func TestKinds(t *testing.T) {
	c := &Config{Ranges: make([]netip.Prefix, 2), NodePort: 0.2, LoadBalancer: 0.3, Local: 0.5, Dual: 0.1}
	const all = 20000
	var ports, balancers, local, dual float64
	for n := range all {
		k := c.Kind(7, "pod-"+strconv.Itoa(n))
		if k != c.Kind(7, "pod-"+strconv.Itoa(n)) {
			t.Fatal("another kind for the same name")
		}
		for of, is := range map[*float64]bool{&ports: k.NodePort, &balancers: k.LoadBalancer, &local: k.Local, &dual: k.Dual} {
			if is {
				*of += 1. / all
			}
		}
	}
	for _, x := range [][2]float64{{ports, 0.2}, {balancers, 0.3}, {local, 0.15}, {dual, 0.1}} {
		if x[0] < x[1]-0.015 || x[0] > x[1]+0.015 {
			t.Errorf("a share of %.3f, want %.2f", x[0], x[1])
		}
	}
}
