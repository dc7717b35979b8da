package calico

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"strings"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/decode"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/strict"
)

// checked is an address in use as calicoctl ipam check -o FILE writes it: with etcd
// the only way to see who has which address while the cluster runs.
type checked struct {
	holder
	handle, typ string
	borrowed    bool
	unused      bool // calicoctl has found no pod that has it
}

// check reads the report of calicoctl ipam check.
//
// Source: calicoctl/calicoctl/commands/ipam, Report (v3.31).
func (c *objects) check(from dump.Origin, raw json.RawMessage) (int, error) {
	var o struct {
		Allocations map[string][]struct {
			Handle    string `json:"handle"`
			Pod       string `json:"pod"`
			Namespace string `json:"namespace"`
			Node      string `json:"node"`
			Type      string `json:"type"`
			Borrowed  bool   `json:"borrowed"`
			InUse     *bool  `json:"inUse"`
		} `json:"allocations"`
		LeakedHandles []struct{ ID string } `json:"leakedHandles"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return 0, from.Fail("", "", "looks like a report of calicoctl ipam check, but: %s", decode.OneLine(err))
	}
	t := &c.tables
	for s, all := range o.Allocations {
		a, err := netip.ParseAddr(s)
		if err != nil || a.Zone() != "" || len(all) == 0 {
			return 0, from.Fail("", "allocations", "%s is no address in use", strict.Quote(s))
		}
		x := all[0]
		in := checked{holder: holder{namespace: x.Namespace, pod: x.Pod, node: x.Node}, handle: x.Handle, typ: x.Type, borrowed: x.Borrowed}
		if id, ok := strings.CutPrefix(x.Handle, podHandle); ok {
			in.container = id
		}
		in.unused = true
		for _, x := range all {
			if in.unused = in.unused && x.InUse != nil && !*x.InUse; x.InUse != nil && *x.InUse && x.Pod != "" {
				c.Names(x.Namespace + "/" + x.Pod)
			}
		}
		t.checked[a] = in
	}
	for _, h := range o.LeakedHandles {
		t.leaked = append(t.leaked, h.ID)
	}
	c.Count("addresses of a report of calicoctl ipam check", len(o.Allocations))
	return len(o.Allocations), nil
}

// checkedBlock is the block that an address of a report lies in, by the table of
// blocks or else by the pool.
func (d *record) checkedBlock(a netip.Addr, shown map[netip.Prefix]usage) (netip.Prefix, bool) {
	for p := range shown {
		if p.Contains(a) {
			return p, true
		}
	}
	for _, name := range kept.Keys(d.pools) {
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
