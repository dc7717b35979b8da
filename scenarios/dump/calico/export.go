package calico

import (
	"encoding/json"
	"strings"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/decode"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/strict"
)

// document takes what calicoctl prints besides objects.
func (c *objects) document(from dump.Origin, raw json.RawMessage) (n int, ok bool, err error) {
	var o struct {
		Affinities json.RawMessage `json:"block_affinities"`
		Blocks     json.RawMessage `json:"blocks"`
		Handles    json.RawMessage `json:"handles"`
		Cluster    *string         `json:"clusterGUID"`
		Checked    json.RawMessage `json:"allocations"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return 0, false, nil
	}
	switch {
	case o.Affinities != nil || o.Blocks != nil || o.Handles != nil:
		n, err = c.exported(from, raw)
		return n, true, err
	case o.Cluster != nil && o.Checked != nil:
		n, err = c.check(from, raw)
		return n, true, err
	}
	return 0, false, nil
}

// exported reads the last part of what calicoctl datastore migrate export prints:
// blocks, affinities, handles and settings as etcd has them.
//
// Source: calicoctl/calicoctl/commands/datastore/migrate, migrateIPAM (v3.31).
func (c *objects) exported(from dump.Origin, raw json.RawMessage) (int, error) {
	type pair[T any] struct {
		Key   string
		Value T
	}
	var o struct {
		Affinities []pair[struct {
			State   string `json:"state"`
			Deleted truth  `json:"deleted"`
		}] `json:"block_affinities"`
		Blocks []pair[struct {
			blockSpec
			HostAffinity *string `json:"hostAffinity"`
		}] `json:"blocks"`
		Handles []pair[handleSpec] `json:"handles"`
		Config  *pair[struct {
			Strict   bool `json:"strict_affinity"`
			Allocate bool `json:"auto_allocate_blocks"`
			Max      int  `json:"maxBlocksPerHost"`
		}] `json:"config"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return 0, from.Fail("", "", "looks like the end of a calicoctl datastore migrate export, but: %s", decode.OneLine(err))
	}
	c.etcd = true
	for _, p := range o.Affinities {
		// /calico/ipam/v2/host/NODE/ipv4/block/10.0.0.0-26
		path := strings.Split(p.Key, "/")
		if len(path) != 9 {
			return 0, from.Fail("block_affinities", "", "%s is no key of an affinity", strict.Quote(p.Key))
		}
		h := kept.HeadOf("BlockAffinity", path[5]+" "+cidr(path[8]), from)
		if err := c.putAffinity(h, affinitySpec{State: p.Value.State, Node: path[5], Type: path[4], CIDR: cidr(path[8]), Deleted: p.Value.Deleted}); err != nil {
			return 0, err
		}
	}
	for _, p := range o.Blocks {
		b := p.Value.blockSpec
		if b.CIDR == "" {
			b.CIDR = cidr(p.Key[strings.LastIndex(p.Key, "/")+1:])
		}
		if p.Value.HostAffinity != nil && b.Affinity == nil { // Calico 1
			a := "host:" + *p.Value.HostAffinity
			b.Affinity = &a
		}
		if err := c.putBlock(kept.HeadOf("IPAMBlock", b.CIDR, from), b); err != nil {
			return 0, err
		}
	}
	for _, p := range o.Handles {
		p.Value.HandleID = p.Key[strings.LastIndex(p.Key, "/")+1:]
		if err := kept.Put(c.Store, c.handles, p.Value.HandleID, kept.HeadOf("IPAMHandle", p.Value.HandleID, from), p.Value); err != nil {
			return 0, err
		}
	}
	if o.Config != nil {
		s := configSpec{o.Config.Value.Strict, o.Config.Value.Allocate, o.Config.Value.Max}
		if err := kept.Put(c.Store, c.config, "default", kept.HeadOf("IPAMConfig", "default", from), s); err != nil {
			return 0, err
		}
	}
	for _, kind := range []string{"BlockAffinity", "IPAMBlock", "IPAMHandle", "IPAMConfig"} {
		c.Complete(version, kind)
	}
	n := len(o.Affinities) + len(o.Blocks) + len(o.Handles)
	c.Count("IPAM of an export", n)
	return n, nil
}

// cidr undoes what Calico does to a block for a key: 10.0.0.0-26.
func cidr(s string) string {
	if i := strings.LastIndex(s, "-"); i >= 0 {
		return s[:i] + "/" + s[i+1:]
	}
	return s
}
