package whereabouts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/k8snetworkplumbingwg/whereabouts/pkg/iphelpers"
	"github.com/k8snetworkplumbingwg/whereabouts/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	netutils "k8s.io/utils/net"

	"ipamsim/model"
	"ipamsim/sim/ipam/platform"
	"ipamsim/sim/ipam/whereabouts/upstream/pkg/config"
)

// network is the policy of a configuration. ok is false, without an error, if it does not use
// Whereabouts.
func network(key string, raw []byte) (n model.Network, ok bool, err error) {
	conf, err := decode(raw)
	if err != nil {
		return n, false, nil // the reader of the manifests reports this error with more detail
	}
	in, err := stdin(key, raw)
	if err != nil {
		return n, true, err
	}
	if in == nil {
		if ipam, _ := get(conf, "ipam").(object); ipam != nil && get(ipam, "type") == ours {
			return n, true, errors.New("type: missing: the configuration names no CNI plugin")
		}
		return n, false, nil
	}
	written, err := ranges(in)
	if err != nil {
		return n, true, err
	}
	c, err := parsedConfig(in)
	if err != nil {
		return n, true, err
	}
	n = model.Network{Key: key, Name: c.NetworkName, Overlap: c.OverlappingRanges}
	for i, r := range c.IPRanges {
		m, err := policy(written[i], r)
		if err != nil {
			return n, true, err
		}
		n.Ranges = append(n.Ranges, m)
	}
	if n.Name != "" {
		if bad := validation.IsDNS1123Subdomain(n.Name); len(bad) > 0 {
			return n, true, fmt.Errorf("network_name %q: it becomes part of the names of Kubernetes objects: %s", n.Name, bad[0])
		}
	}
	if n.Slice, err = slice(in, c); err != nil {
		return n, true, err
	}
	return n, true, election(c)
}

// parsedConfig is the configuration that the plugin parses from its standard input on any node.
func parsedConfig(in []byte) (c *types.IPAMConfig, err error) {
	p := &platform.Program{Name: ours, Host: platform.NewHost(installed("node")), Ctx: context.Background(), Crash: func(any, string) {}}
	if end := p.Run(func() { c, _, err = config.LoadIPAMConfig(in, "") }); end.Crash != nil {
		panic(end.Crash)
	}
	return c, err
}

// rangeText is a range as the user wrote it: upstream's parser drops an address
// that it cannot read without a word.
type rangeText struct{ field, start, end string }

// ranges lists the ranges in upstream's order: the one at the top first.
func ranges(in []byte) ([]rangeText, error) {
	conf, err := decode(in)
	if err != nil {
		return nil, err
	}
	ipam, _ := get(conf, "ipam").(object)
	var out []rangeText
	add := func(field string, o object) error {
		r := rangeText{field: field}
		for _, f := range []struct {
			key string
			to  *string
		}{{"range_start", &r.start}, {"range_end", &r.end}} {
			*f.to, _ = get(o, f.key).(string)
			if *f.to != "" && netutils.ParseIPSloppy(*f.to) == nil {
				return fmt.Errorf("%s%s: %q is not an IP address", strings.TrimSuffix(field, "range"), f.key, *f.to)
			}
		}
		out = append(out, r)
		return nil
	}
	if s, _ := get(ipam, "range").(string); s != "" {
		if err := add("range", ipam); err != nil {
			return nil, err
		}
	}
	list, _ := get(ipam, "ipRanges").([]any)
	for i, e := range list {
		o, _ := e.(object)
		if err := add(fmt.Sprintf("ipRanges[%d].range", i), o); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// policy is the part of a range that upstream's allocator hands out: without the network and
// broadcast addresses, from range_start to range_end if these are in between. Upstream ignores one
// that is not; here it is refused.
//
// Source: pkg/iphelpers, GetIPRange; pkg/allocate, IterateForAssignment (v0.9.4).
func policy(w rangeText, r types.RangeConfiguration) (model.Range, error) {
	where := strings.TrimSuffix(w.field, "range")
	_, ipnet, err := net.ParseCIDR(r.Range)
	if err != nil {
		return model.Range{}, fmt.Errorf("%s: %w", w.field, err)
	}
	m := model.Range{Prefix: prefix(*ipnet)}
	if m.Prefix.Bits() == 0 {
		return m, fmt.Errorf("%s: %s is every address there is", w.field, m.Prefix)
	}
	first, last, err := iphelpers.GetIPRange(*ipnet, r.RangeStart, r.RangeEnd)
	if err != nil {
		return m, fmt.Errorf("%s: %s has no usable address: the first and the last one are never given out", w.field, m.Prefix)
	}
	m.Start, m.End = addr(first), addr(last)
	start, end := addr(r.RangeStart), addr(r.RangeEnd)
	switch {
	case start.IsValid() && !m.Prefix.Contains(start):
		return m, fmt.Errorf("%srange_start: %s lies outside of %s", where, start, m.Prefix)
	case end.IsValid() && !m.Prefix.Contains(end):
		return m, fmt.Errorf("%srange_end: %s lies outside of %s", where, end, m.Prefix)
	case start.IsValid() && end.IsValid() && end.Less(start):
		return m, fmt.Errorf("%srange_end: %s lies before range_start %s", where, end, start)
	case start == model.LastAddr(m.Prefix):
		return m, fmt.Errorf("%srange_start: %s is the last address of %s, which is never given out", where, start, m.Prefix)
	case end == m.Prefix.Addr():
		return m, fmt.Errorf("%srange_end: %s is the first address of %s, which is never given out", where, end, m.Prefix)
	}
	for i, x := range r.OmitRanges {
		p, err := excluded(x)
		if err != nil {
			return m, fmt.Errorf("%sexclude[%d]: %q is neither a CIDR nor an IP address", where, i, x)
		}
		m.Exclude = append(m.Exclude, p)
	}
	return m, nil
}

// excluded parses an exclude as the allocator will, at the first ADD.
//
// Source: pkg/allocate, parseExcludedRange (v0.9.4).
func excluded(s string) (netip.Prefix, error) {
	if _, n, err := net.ParseCIDR(s); err == nil {
		return prefix(*n), nil
	}
	a := addr(net.ParseIP(s))
	if !a.IsValid() {
		return netip.Prefix{}, errors.New("not an address")
	}
	return netip.PrefixFrom(a, a.BitLen()), nil
}

// election checks the lease's times with the elector's own rules: if the elector refuses them, the
// plugin crashes at every ADD and DEL (ipam.go:453 returns no elector, ipam.go:502 runs it).
func election(c *types.IPAMConfig) error {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	_, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          &resourcelock.LeaseLock{LockConfig: resourcelock.ResourceLockConfig{Identity: "check"}},
		LeaseDuration: ms(c.LeaderLeaseDuration), RenewDeadline: ms(c.LeaderRenewDeadline), RetryPeriod: ms(c.LeaderRetryPeriod),
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
	})
	if err != nil {
		return fmt.Errorf("leader_lease_duration %d, leader_renew_deadline %d, leader_retry_period %d: %w",
			c.LeaderLeaseDuration, c.LeaderRenewDeadline, c.LeaderRetryPeriod, err)
	}
	if c.LeaderLeaseDuration < 1000 {
		return fmt.Errorf("leader_lease_duration %d: a lease is written in whole seconds, and the API server refuses one of 0", c.LeaderLeaseDuration)
	}
	return nil
}

// prefix is the masked prefix of a net.IPNet, without IPv4 in IPv6.
func prefix(n net.IPNet) netip.Prefix { return withMask(n).Masked() }

// withMask keeps the address as it is.
func withMask(n net.IPNet) netip.Prefix {
	ones, _ := n.Mask.Size()
	a := addr(n.IP)
	if len(n.Mask) == net.IPv6len && a.Is4() {
		ones -= 96
	}
	return netip.PrefixFrom(a, ones)
}

// addr is the zero Addr if ip is not an address.
func addr(ip net.IP) netip.Addr {
	a, _ := netip.AddrFromSlice(slices.Clone(ip))
	return a.Unmap()
}
