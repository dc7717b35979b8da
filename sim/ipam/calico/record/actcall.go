package record

import (
	"strings"

	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"

	"ipamsim/model/act"
	"ipamsim/sim/ipam/calico/store"
)

// Verbs are the verbs of a Call.
var Verbs = map[string]act.Verb{
	"Get": act.Read, "List": act.List, "Create": act.Create, "Update": act.Update, "Apply": act.Update, "Delete": act.Delete,
	"Watch": "watch", "Hear": act.Hear,
}

// messageOf is the content of a call of the etcdv3 datastore.
func messageOf(c store.Call) *message {
	m := &message{gone: c.Gone, path: c.Path}
	m.in, _ = c.In.(*bmodel.KVPair)
	m.out, _ = c.Out.(*bmodel.KVPair)
	switch {
	case c.Verb == "Watch":
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
	if k := EtcdKey(path); k != nil {
		return k
	}
	return bmodel.KeyFromDefaultPath(path)
}

// outcomeOf recognizes the errors of libcalico-go by their text, which is all that a trace keeps.
//
// Source: libcalico-go/lib/errors (v3.31).
func outcomeOf(err string) act.Outcome {
	for _, e := range []struct {
		says string
		is   act.Outcome
	}{{"update conflict", act.Conflict}, {"resource already exists", act.Exists}, {"resource does not exist", act.Absent}} {
		if strings.HasPrefix(err, e.says) {
			return e.is
		}
	}
	if err != "" {
		return act.Failed
	}
	return act.Done
}
