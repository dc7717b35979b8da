package ipam_test

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"

	"pgregory.net/rapid"

	reference "ipamsim/model/reference/hostlocal"
	"ipamsim/sim/ipam/hostlocal/upstream/allocator"
)

// TestConformanceConfig compares our reading of configurations with upstream's, on random
// configurations: whether there is an error, its text, and the ranges.
func TestConformanceConfig(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(drawnConfig(t))
		if err != nil {
			t.Fatal(err)
		}
		theirs, _, want := allocator.LoadIPAMConfig(text, "")
		ours, got := reference.Read(text)
		if want != nil {
			if seen[words(want)]++; got == nil || words(got) != words(want) {
				t.Fatalf("%s: %v, upstream says %v", text, got, want)
			}
			return
		}
		if got != nil {
			t.Fatalf("%s: %v, upstream has nothing to say", text, got)
		}
		said := []string{theirs.Name}
		for _, set := range theirs.Ranges {
			for _, r := range set {
				said = append(said, fmt.Sprint((*net.IPNet)(&r.Subnet), " ", r.RangeStart, " ", r.RangeEnd, " ", r.Gateway))
			}
			said = append(said, "")
		}
		has := []string{ours.Name}
		for _, set := range ours.Sets {
			for _, r := range set {
				has = append(has, fmt.Sprint(r.Subnet, " ", r.First, " ", r.Last, " ", r.Gateway))
			}
			has = append(has, "")
		}
		if a, b := strings.Join(has, "; "), strings.Join(said, "; "); a != b {
			t.Fatalf("%s: %s, upstream says %s", text, a, b)
		}
		seen["good"]++
	})
	t.Log(seen)
	if seen["good"] == 0 || len(seen) < 5 {
		t.Errorf("%v", seen)
	}
}

// words are the first words of an error, which identify it. Upstream reports a missing address as
// an invalid IP, and writes an IPv4 prefix in IPv6's form as IPv4.
func words(err error) string {
	s := strings.NewReplacer("IP <nil> not v4 nor v6", "subnet: missing", "::ffff:10.1.0.0/127", "10.1.0.0/31").Replace(err.Error())
	if strings.Contains(s, "cannot understand ip") || strings.Contains(s, "invalid IP address") {
		return "an address that is none"
	}
	return s
}

func drawnConfig(t *rapid.T) object {
	pick := func(n int, what string) bool { return rapid.IntRange(0, n).Draw(t, what) == 0 }
	ipam := object{"type": "host-local"}
	if pick(3, "old style") {
		ipam = drawnRange(t)
	}
	sets := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) []object {
		return rapid.SliceOfN(rapid.Custom(drawnRange), rapid.SampledFrom([]int{0, 1, 1, 1, 1, 1, 1, 1, 1, 1}).Draw(t, "least"), 2).Draw(t, "set")
	}), 0, 3)
	if !pick(3, "no ranges") {
		ipam["ranges"] = sets.Draw(t, "ranges")
	}
	c := object{"type": "bridge", "name": rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "name"), "ipam": ipam}
	if !pick(3, "no version") {
		c["cniVersion"] = rapid.SampledFrom([]string{"0.1.0", "0.2.0", "0.3.0", "0.3.1", "1.0.0", "1.0", "1", "x"}).Draw(t, "version")
	}
	asked := rapid.SliceOfN(rapid.SampledFrom([]string{"10.1.0.4", "10.1.0.4/24", "fd00::4/64", "", "10.1.0", "10.1.0.4/33"}), 1, 2)
	if pick(9, "of the runtime") {
		c["runtimeConfig"] = object{"ipRanges": sets.Draw(t, "ranges of the runtime")}
		if pick(1, "addresses of the runtime") {
			c["runtimeConfig"] = object{"ips": asked.Draw(t, "asked by the runtime")}
		}
	}
	if pick(15, "args") {
		c["args"] = object{"cni": object{"ips": asked.Draw(t, "asked")}}
	}
	if pick(30, "no ipam") {
		return object{"type": "bridge"}
	}
	return c
}

type object = map[string]any

func drawnRange(t *rapid.T) object {
	r := object{}
	set := func(key string, odds int, all ...string) {
		if rapid.IntRange(0, odds).Draw(t, key) > 0 {
			return
		}
		if rapid.IntRange(0, 39).Draw(t, "odd") == 0 {
			all = []string{"", "x", "10.1.0.0/24", "::ffff:10.1.0.3", "fe80::1%eth0", "10.1.0.300"}
		}
		r[key] = rapid.SampledFrom(all).Draw(t, key)
	}
	if rapid.IntRange(0, 30).Draw(t, "a subnet") > 0 {
		subnets := []string{"10.1.0.0/24", "10.1.1.0/24", "10.1.0.0/29", "10.1.2.0/30", "10.1.3.0/24", "10.1.4.0/24", "fd00::/64", "fd00:1::/120", "fd00:2::/64"}
		if rapid.IntRange(0, 19).Draw(t, "an odd one") == 0 {
			subnets = []string{"10.1.0.0/31", "10.1.0.1/24", "10.1.0.1/32", "fd00::/127", "fd00::1/64", "::ffff:10.1.0.0/120", "::ffff:10.1.0.0/127", "10.1.0.0/33", "0.0.0.0/0"}
		}
		r["subnet"] = rapid.SampledFrom(subnets).Draw(t, "subnet")
	}
	set("rangeStart", 2, "10.1.0.2", "10.1.0.9", "10.1.0.3", "10.1.0.255", "10.1.0.0", "10.1.1.2", "fd00::5", "fd00:1::ff", "::ffff:10.1.0.4")
	set("rangeEnd", 2, "10.1.0.2", "10.1.0.12", "10.1.0.3", "10.1.0.255", "10.1.0.0", "10.1.1.200", "fd00::9", "fd00:1::ff", "::ffff:10.1.0.6")
	set("gateway", 3, "10.1.0.1", "10.1.0.3", "10.9.9.9", "fd00::1", "::ffff:10.1.0.7")
	return r
}
