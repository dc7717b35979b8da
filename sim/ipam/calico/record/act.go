package record

import (
	"cmp"
	"slices"
	"strings"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim/ipam/calico/store"
	"ipamsim/sim/kube"
)

// Act describes what a step did, an exchange with the API server or a Call of the etcdv3 datastore,
// in libcalico-go's terms: which block was read and how full it was, which address a write assigns
// to which owner and under which condition, which node claims, confirms or releases an affinity.
// The result is the same for both datastores.
func (r *Record) Act(detail any) act.Act {
	switch d := detail.(type) {
	case store.Call:
		a := act.Act{Verb: Verbs[d.Verb], Outcome: outcomeOf(d.Err), Error: d.Err, Bare: d.Bare}
		if kv, ok := d.Out.(*bmodel.KVPair); ok && kv != nil && a.Outcome == act.Done && a.Write() && a.Verb != act.Delete {
			a.Left = kv.Revision
		}
		return r.act(messageOf(d), a)
	case kube.Exchange:
		a := d.Act()
		if m, ok := messageOfExchange(d, &a); ok {
			a.Bare = d.Bare
			return r.act(m, a)
		}
	}
	return act.Act{}
}

// message is the content of a message to either datastore, in libcalico-go's own terms.
type message struct {
	key     bmodel.Key     // nil for a list
	path    string         // of a list: its prefix, as in etcd
	in, out *bmodel.KVPair // what was sent and what was returned; either may be nil
	all     []*bmodel.KVPair
	gone    bool // of an event: it was deleted
}

// value is the object of the message: what was sent, or otherwise what was returned.
func (m *message) value() any {
	switch {
	case m.in != nil:
		return m.in.Value
	case m.out != nil:
		return m.out.Value
	}
	return nil
}

// act adds the content of the message to its outcome. If the content is missing or cannot be
// decoded, the act is a bare one.
func (r *Record) act(m *message, a act.Act) act.Act {
	if a.Verb == act.List {
		m.list(&a)
		return a
	}
	a.Thing, a.Subresource, a.Gone = act.Thing{}, "", m.gone
	var known bool
	switch k := m.key.(type) {
	case bmodel.BlockKey:
		known = m.block(k, &a, r)
	case bmodel.BlockAffinityKey:
		known = m.affinity(k, &a)
	case bmodel.IPAMHandleKey:
		known = m.handle(k, &a)
	case bmodel.IPAMConfigKey:
		known = m.config(&a)
	case bmodel.ResourceKey:
		m.resource(k, &a)
		known = true
	}
	if a.Verb == act.Delete || a.Verb == act.Hear && a.Gone || a.Verb == act.Read && a.Outcome != act.Done {
		known = a.Thing.Kind != "" // nothing more is needed
	}
	a.Bare = a.Bare || !known
	switch {
	case a.Bare:
		a.Thing.Parts, a.Gives, a.Takes = nil, nil, nil
	case a.Write() && m.in != nil:
		a.If = m.in.Revision
	case a.Verb == act.Read && m.out != nil:
		a.Thing.Revision = m.out.Revision
	}
	return a
}

// title is how sentences call the manager.
const title = "Calico"

// rooted are the lists by what their path begins with.
var rooted = []struct {
	path string
	of   act.Kind
}{
	{blockRoot, act.Block}, {IpamRoot + "handle/", act.Handle},
	{IpamRoot + bmodel.IPAMAffinityTypeHost + "/", act.Affinity}, {IpamRoot + bmodel.IPAMAffinityTypeVirtual + "/", act.Affinity},
	{"/calico/resources/v3/projectcalico.org/ippools", act.IPPool}, {"/calico/resources/v3/projectcalico.org/ipreservations", act.IPReservation},
	{"/calico/resources/v3/projectcalico.org/nodes", act.OwnNode},
}

func (m *message) list(a *act.Act) {
	a.Thing = act.Thing{}
	for _, r := range rooted {
		rest, ok := strings.CutPrefix(m.path, r.path)
		if !ok {
			continue
		}
		if a.Thing.Kind = r.of; r.of == act.OwnNode {
			a.Thing.Of = title
		}
		if host, _, _ := strings.Cut(rest, "/"); r.of == act.Affinity && host != "" {
			a.Thing.Owner = nodeRef(host)
		}
		for _, kv := range m.all {
			if t, ok := thing(kv); ok && !a.Bare {
				a.Thing.Parts = append(a.Thing.Parts, t)
			}
		}
		slices.SortStableFunc(a.Thing.Parts, func(x, y act.Thing) int {
			return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Owner.Name, y.Owner.Name))
		})
		return
	}
	a.Bare = true
}

// thing describes one element of a list.
func thing(kv *bmodel.KVPair) (t act.Thing, ok bool) {
	switch v := kv.Value.(type) {
	case *bmodel.AllocationBlock:
		return blockThing(kv.Key.(bmodel.BlockKey), v), true
	case *bmodel.BlockAffinity:
		return affinityThing(kv.Key.(bmodel.BlockAffinityKey), v), true
	case *bmodel.IPAMHandle:
		return handleThing(kv.Key.(bmodel.IPAMHandleKey), v), true
	case *apiv3.IPPool:
		return poolThing(v.Name, v), true
	case *apiv3.IPReservation:
		return reservationThing(v.Name, v), true
	case *libapiv3.Node:
		return act.Thing{Kind: act.OwnNode, Of: title, Name: v.Name}, true
	}
	return t, false
}

// nodeRef refers to a node, or to none if there is no name.
func nodeRef(name string) model.Ref {
	if name == "" {
		return model.Ref{}
	}
	return model.Ref{Kind: model.RefNode, Name: name}
}
