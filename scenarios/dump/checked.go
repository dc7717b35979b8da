package dump

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"strings"

	"ipamsim/scenarios/strict"
)

// checked is an address in use as calicoctl ipam check -o FILE writes it: with etcd
// the only way to see who has which address while the cluster runs.
type checked struct {
	holder
	handle, typ string
	borrowed    bool
}

// check reads the report of calicoctl ipam check.
//
// Source: calicoctl/calicoctl/commands/ipam, Report (v3.31).
func (in *input) check(from Origin, raw json.RawMessage) error {
	var o struct {
		Allocations map[string][]struct {
			Handle    string `json:"handle"`
			Pod       string `json:"pod"`
			Namespace string `json:"namespace"`
			Node      string `json:"node"`
			Type      string `json:"type"`
			Borrowed  bool   `json:"borrowed"`
		} `json:"allocations"`
		LeakedHandles []struct{ ID string } `json:"leakedHandles"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return from.fail("", "", "looks like a report of calicoctl ipam check, but: %s", oneLine(err))
	}
	t := &in.c.tables
	for s, all := range o.Allocations {
		a, err := netip.ParseAddr(s)
		if err != nil || a.Zone() != "" || len(all) == 0 {
			return from.fail("", "allocations", "%s is no address in use", strict.Quote(s))
		}
		x := all[0]
		c := checked{holder: holder{namespace: x.Namespace, pod: x.Pod, node: x.Node}, handle: x.Handle, typ: x.Type, borrowed: x.Borrowed}
		c.container, _ = strings.CutPrefix(x.Handle, podHandle)
		if c.container == x.Handle {
			c.container = ""
		}
		t.checked[a] = c
	}
	for _, h := range o.LeakedHandles {
		t.leaked = append(t.leaked, h.ID)
	}
	in.objects += len(o.Allocations)
	in.c.read["addresses of a report of calicoctl ipam check"] += len(o.Allocations)
	return nil
}

// checkedBlock is the block that an address of a report lies in, by the table of
// blocks or else by the pool.
func (d *draft) checkedBlock(a netip.Addr, shown map[netip.Prefix]usage) (netip.Prefix, bool) {
	for p := range shown {
		if p.Contains(a) {
			return p, true
		}
	}
	for _, name := range keysOf(d.pools) {
		pool := d.pools[name]
		p, err := netip.ParsePrefix(pool.CIDR)
		if err != nil || !p.Contains(a) {
			continue
		}
		usual := 26
		if a.Is6() {
			usual = 122
		}
		b, err := a.Prefix(cmp.Or(pool.BlockSize, usual))
		return b, err == nil
	}
	return netip.Prefix{}, false
}
