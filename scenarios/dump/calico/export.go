package calico

import (
	"cmp"
	"encoding/json"
	"errors"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/calico/printed"
	"ipamsim/scenarios/dump/decode"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/strict"
)

// document reads the output of calicoctl that is not objects.
func (c *objects) document(from dump.Origin, raw json.RawMessage) (n int, ok bool, err error) {
	var o struct {
		Affinities json.RawMessage `json:"block_affinities"`
		Blocks     json.RawMessage `json:"blocks"`
		Handles    json.RawMessage `json:"handles"`
		Cluster    *string         `json:"clusterGUID"`
		Checked    json.RawMessage `json:"allocations"`
		decode.Pair
	}
	var line string
	if json.Unmarshal(raw, &line) == nil {
		ok, err = c.tables.Line(from, line)
		return 1, ok, err
	}
	if json.Unmarshal(raw, &o) != nil {
		return 0, false, nil
	}
	switch {
	case o.Key != "":
		ok, err = c.pair(from, o.Key, o.Value)
		return 1, ok, err
	case o.Affinities != nil || o.Blocks != nil || o.Handles != nil:
		n, err = c.exported(from, raw)
		return n, true, err
	case o.Cluster != nil && o.Checked != nil:
		n, err = c.tables.Report(from, raw)
		c.Count("addresses of a report of calicoctl ipam check", n)
		for _, pod := range c.tables.Named {
			c.Names(pod)
		}
		return n, true, err
	}
	return 0, false, nil
}

// exported reads the last part of what calicoctl datastore migrate export prints:
// blocks, affinities, handles and settings as etcd has them.
func (c *objects) exported(from dump.Origin, raw json.RawMessage) (int, error) {
	all, n, err := printed.Export(from, raw)
	if err != nil {
		return 0, err
	}
	c.etcd = true
	for _, p := range all {
		if ok, err := c.pair(from, p.Key, p.Value); err != nil || !ok {
			return 0, cmp.Or(err, error(from.Fail("", "", "%s is not a key of Calico's IPAM", strict.Quote(p.Key))))
		}
	}
	for _, kind := range []string{"BlockAffinity", "IPAMBlock", "IPAMHandle", "IPAMConfig"} {
		c.Complete(version, kind)
	}
	c.Count("IPAM of an export", n)
	return n, nil
}

// pair takes a key of etcd's with its value; ok is false if it is none of Calico's record.
func (c *objects) pair(from dump.Origin, key string, value json.RawMessage) (ok bool, err error) {
	k := printed.ParseKey(key)
	h := kept.HeadOf(k.Kind, printed.CIDR(k.Name), from)
	switch k.Kind {
	case "BlockAffinity":
		var a affinitySpec
		var deleted struct {
			Deleted truth `json:"deleted"`
		}
		if err = errors.Join(json.Unmarshal(value, &a), json.Unmarshal(value, &deleted)); err == nil {
			h.Metadata.Name = k.Host + " " + h.Metadata.Name
			err = c.putAffinity(h, affinitySpec{State: a.State, Node: k.Host, Type: k.Type, CIDR: printed.CIDR(k.Name), Deleted: deleted.Deleted})
		}
	case "IPAMBlock":
		var b struct {
			blockSpec
			HostAffinity *string `json:"hostAffinity"`
		}
		if err = json.Unmarshal(value, &b); err != nil {
			break
		}
		if b.CIDR == "" {
			b.CIDR = printed.CIDR(k.Name)
		}
		if b.HostAffinity != nil && b.Affinity == nil { // Calico 1
			a := "host:" + *b.HostAffinity
			b.Affinity = &a
		}
		err = c.putBlock(h, b.blockSpec)
	case "IPAMHandle":
		var s handleSpec
		if err = json.Unmarshal(value, &s); err == nil {
			s.HandleID = k.Name
			err = kept.Put(c.Store, c.handles, k.Name, kept.HeadOf(k.Kind, k.Name, from), s)
		}
	case "IPAMConfig":
		var s struct {
			Strict   bool `json:"strict_affinity"`
			Allocate bool `json:"auto_allocate_blocks"`
			Max      int  `json:"maxBlocksPerHost"`
		}
		if err = json.Unmarshal(value, &s); err == nil {
			err = kept.Put(c.Store, c.config, "default", kept.HeadOf(k.Kind, "default", from), configSpec{s.Strict, s.Allocate, s.Max})
		}
	default:
		return false, nil
	}
	c.etcd = true
	c.Count(k.Kind+"."+group, 1)
	if bad := (*strict.Error)(nil); err != nil && !errors.As(err, &bad) {
		err = h.Fail("", "%s", decode.OneLine(err))
	}
	return true, err
}
