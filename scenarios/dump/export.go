package dump

import (
	"encoding/json"
	"strings"

	"ipamsim/scenarios/strict"
)

// exported reads the last part of what calicoctl datastore migrate export prints:
// blocks, affinities, handles and settings as etcd has them.
//
// Source: calicoctl/calicoctl/commands/datastore/migrate, migrateIPAM (v3.31).
func (in *input) exported(from Origin, raw json.RawMessage) error {
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
		return from.fail("", "", "looks like the end of a calicoctl datastore migrate export, but: %s", oneLine(err))
	}
	c := in.c
	c.etcd = true
	for _, p := range o.Affinities {
		// /calico/ipam/v2/host/NODE/ipv4/block/10.0.0.0-26
		path := strings.Split(p.Key, "/")
		if len(path) != 9 {
			return from.fail("block_affinities", "", "%s is no key of an affinity", strict.Quote(p.Key))
		}
		h := of("BlockAffinity", path[5]+" "+cidr(path[8]), from)
		if err := c.putAffinity(h, affinitySpec{State: p.Value.State, Node: path[5], Type: path[4], CIDR: cidr(path[8]), Deleted: p.Value.Deleted}); err != nil {
			return err
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
		if err := c.putBlock(of("IPAMBlock", b.CIDR, from), b); err != nil {
			return err
		}
	}
	for _, p := range o.Handles {
		p.Value.HandleID = p.Key[strings.LastIndex(p.Key, "/")+1:]
		if err := put(c, c.handles, p.Value.HandleID, of("IPAMHandle", p.Value.HandleID, from), p.Value); err != nil {
			return err
		}
	}
	if o.Config != nil {
		s := configSpec{o.Config.Value.Strict, o.Config.Value.Allocate, o.Config.Value.Max}
		if err := put(c, c.config, "default", of("IPAMConfig", "default", from), s); err != nil {
			return err
		}
	}
	for _, kind := range []string{"BlockAffinity", "IPAMBlock", "IPAMHandle", "IPAMConfig"} {
		c.Complete(calicoVersion, kind)
	}
	c.read["IPAM of an export"] += len(o.Affinities) + len(o.Blocks) + len(o.Handles)
	in.objects += len(o.Affinities) + len(o.Blocks) + len(o.Handles)
	return nil
}

// of is the head of an object that has none.
func of(kind, name string, from Origin) *head {
	h := &head{Kind: kind, from: from}
	h.Metadata.Name = name
	return h
}

// cidr undoes what Calico does to a block for a key: 10.0.0.0-26.
func cidr(s string) string {
	if i := strings.LastIndex(s, "-"); i >= 0 {
		return s[:i] + "/" + s[i+1:]
	}
	return s
}
