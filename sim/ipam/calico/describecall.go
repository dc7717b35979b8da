package calico

import (
	"maps"
	"slices"
	"strings"

	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"

	"ipamsim/sim/ipam"
)

var _ ipam.Message = Call{}

// About lists the blocks, nodes, pods and addresses of a call. A block that was
// written tells of those addresses only that the write gave out, one that was read
// of all; a list of blocks names the blocks.
func (c Call) About() []string {
	m := messageOf(c)
	var out []string
	add := func(s ...string) { out = append(out, s...) }
	switch k := m.key.(type) {
	case bmodel.BlockKey:
		add(k.CIDR.String())
	case bmodel.BlockAffinityKey:
		add(k.CIDR.String(), k.Host)
	case bmodel.ResourceKey:
		if k.Kind == libapiv3.KindNode {
			add(k.Name)
		}
	}
	for _, kv := range m.all {
		if k, ok := kv.Key.(bmodel.BlockKey); ok {
			add(k.CIDR.String())
		}
	}
	switch v := m.value().(type) {
	case *bmodel.AllocationBlock:
		add(nodeOf(v.Affinity))
		claims := fresh(v)
		if b, err := readBlock(&bmodel.KVPair{Value: v}); m.act == get && err == nil {
			claims = b.claims
		}
		for _, c := range claims {
			add(c.Addr.String(), c.Node)
			if c.Pod.Name != "" {
				add(c.Pod.String())
			}
		}
	case *bmodel.IPAMHandle:
		add(slices.Collect(maps.Keys(v.Block))...)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(s string) bool { return s == "" })
}

// Refused is upstream's error, or "".
func (c Call) Refused() string { return c.Err }

// Revision is of the object that a write left behind, or "".
func (c Call) Revision() string {
	if kv, ok := c.Out.(*bmodel.KVPair); ok && kv != nil && acts[c.Verb] != remove {
		return kv.Revision
	}
	return ""
}

var acts = map[string]act{"Get": get, "List": list, "Create": create, "Update": update, "Apply": update, "Delete": remove, "Hear": hear}

// messageOf is a call of the etcdv3 datastore as a message.
func messageOf(c Call) *message {
	m := &message{act: acts[c.Verb], gone: c.Gone, path: c.Path, outcome: outcomeOf(c.Err)}
	m.in, _ = c.In.(*bmodel.KVPair)
	m.out, _ = c.Out.(*bmodel.KVPair)
	switch {
	case m.in != nil:
		m.key = m.in.Key
	case m.out != nil:
		m.key = m.out.Key
	default:
		m.key = anyKey(c.Path)
	}
	if l, ok := c.Out.(*bmodel.KVPairList); ok && l != nil {
		m.all = l.KVPairs
	}
	return m
}

// anyKey parses a key of any kind.
func anyKey(path string) bmodel.Key {
	if k := etcdKey(path); k != nil {
		return k
	}
	return bmodel.KeyFromDefaultPath(path)
}

// outcomeOf reads the errors of libcalico-go by their text, which is all that a
// trace keeps of them.
//
// Source: libcalico-go/lib/errors (v3.31).
func outcomeOf(err string) outcome {
	for _, e := range []struct {
		says string
		is   outcome
	}{{"update conflict", conflict}, {"resource already exists", exists}, {"resource does not exist", absent}} {
		if strings.HasPrefix(err, e.says) {
			return e.is
		}
	}
	if err != "" {
		return failed
	}
	return done
}
