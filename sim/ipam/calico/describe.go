package calico

import (
	"fmt"
	"slices"
	"strings"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"

	"ipamsim/model"
	"ipamsim/sim/kube"
)

// Describe puts the Detail of a step, an exchange with the API server or a Call of
// the etcdv3 datastore, into the words of Calico's bug reports: which block was
// read and how full it was, which address a write gives to whom and under which
// condition, who claims, confirms or gives up an affinity. Both datastores have the
// same words. It says nothing of what needs none.
func (i *instance) Describe(detail any) string {
	switch d := detail.(type) {
	case Call:
		if !d.Bare {
			return i.words(messageOf(d))
		}
	case kube.Exchange:
		if m, ok := messageOfExchange(d); ok && !d.Bare {
			return i.words(m)
		}
	}
	return ""
}

// words also knows what a write of a block took away.
func (i *instance) words(m *message) string {
	if m.act == update && m.out != nil && i.record != nil {
		m.released = i.record.takenBy(m.out.Revision)
	}
	return m.words()
}

// act is what a message does.
type act string

const (
	get    act = "get"
	list   act = "list"
	create act = "create"
	update act = "update"
	remove act = "delete"
	hear   act = "hear" // one event of a watch
)

// outcome is what came of it.
type outcome uint8

const (
	done     outcome = iota
	conflict         // somebody has changed it since
	exists
	absent
	failed
)

// message is a message to either datastore, in libcalico-go's own terms.
type message struct {
	act     act
	outcome outcome
	key     bmodel.Key     // nil for a list
	path    string         // of a list: what it lists, as in etcd
	in, out *bmodel.KVPair // what was sent and what came back; either may be nil
	all     []*bmodel.KVPair
	gone    bool // hear: it was deleted
	// released is what an update of a block took away, if that is known.
	released []model.Claim
}

// value is what the message is about: what was sent, or else what was answered.
func (m *message) value() any {
	switch {
	case m.in != nil:
		return m.in.Value
	case m.out != nil:
		return m.out.Value
	}
	return nil
}

func (m *message) words() string {
	if m.act == list {
		return m.listWords()
	}
	switch k := m.key.(type) {
	case bmodel.BlockKey:
		return m.block(k)
	case bmodel.BlockAffinityKey:
		return m.affinity(k)
	case bmodel.IPAMHandleKey:
		return m.handle(k)
	case bmodel.IPAMConfigKey:
		return m.config()
	case bmodel.ResourceKey:
		return m.resource(k)
	}
	return ""
}

// rooted are the lists by what their path begins with.
var rooted = []struct{ path, of string }{
	{blockRoot, "block"}, {ipamRoot + "handle/", "handle"},
	{ipamRoot + bmodel.IPAMAffinityTypeHost + "/", "affinity"}, {ipamRoot + bmodel.IPAMAffinityTypeVirtual + "/", "affinity"},
	{"/calico/resources/v3/projectcalico.org/ippools", "pool"}, {"/calico/resources/v3/projectcalico.org/ipreservations", "reservation"},
	{"/calico/resources/v3/projectcalico.org/nodes", "Calico node"},
}

func (m *message) listWords() string {
	for _, r := range rooted {
		rest, ok := strings.CutPrefix(m.path, r.path)
		if !ok {
			continue
		}
		whose := ""
		if host, _, _ := strings.Cut(rest, "/"); r.of == "affinity" && host != "" {
			whose = " of " + host
		}
		if m.outcome != done {
			return "asks for the " + plural(r.of) + whose
		}
		return "reads the " + plural(r.of) + whose + ": " + some(m.named(whose == ""))
	}
	return ""
}

func plural(what string) string {
	if stem, ok := strings.CutSuffix(what, "y"); ok {
		return stem + "ies"
	}
	return what + "s"
}

// named are the things of a list, with what one wants to know of each.
func (m *message) named(hosts bool) []string {
	var out []string
	for _, kv := range m.all {
		switch v := kv.Value.(type) {
		case *bmodel.AllocationBlock:
			out = append(out, fmt.Sprintf("%s%s %s", kv.Key.(bmodel.BlockKey).CIDR, of(nodeOf(v.Affinity)), fill(v)))
		case *bmodel.BlockAffinity:
			k := kv.Key.(bmodel.BlockAffinityKey)
			s := k.CIDR.String()
			if hosts {
				s += of(k.Host)
			}
			if v.State != "" && v.State != bmodel.StateConfirmed {
				s += " (" + string(v.State) + ")"
			}
			out = append(out, s)
		case *bmodel.IPAMHandle:
			out = append(out, shortHandle(kv.Key.(bmodel.IPAMHandleKey).HandleID))
		case *apiv3.IPPool:
			out = append(out, v.Name+" "+v.Spec.CIDR)
		case *apiv3.IPReservation:
			out = append(out, v.Name+" "+strings.Join(v.Spec.ReservedCIDRs, " "))
		case *libapiv3.Node:
			out = append(out, v.Name)
		}
	}
	slices.Sort(out)
	return out
}

// someMax is how many of a list a sentence names.
const someMax = 6

func some(all []string) string {
	switch {
	case len(all) == 0:
		return "none"
	case len(all) <= someMax:
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s, … %d in all", strings.Join(all[:someMax-1], ", "), len(all))
}

// condition is what a write depends on.
func (m *message) condition() string {
	if m.in == nil || m.in.Revision == "" {
		return ""
	}
	return ", if still at revision " + m.in.Revision
}

// refusal is why a write did nothing.
func (m *message) refusal(what string) string {
	switch m.outcome {
	case conflict:
		return ": refused, the " + what + " has moved on"
	case exists:
		return ": refused, there is one already"
	case absent:
		return ": refused, it is gone"
	case failed:
		return ": failed"
	}
	return ""
}

// at is the revision that a read saw.
func (m *message) at() string {
	if m.out == nil || m.out.Revision == "" {
		return ""
	}
	return " at revision " + m.out.Revision
}

func of(node string) string {
	if node == "" {
		return ""
	}
	return " of " + node
}

// shortMax is how much of a container id tells it from others.
const shortMax = 12

// shortHandle is a handle whose container id is cut as container runtimes do.
func shortHandle(handle string) string {
	dot := strings.LastIndexByte(handle, '.')
	if id := handle[dot+1:]; dot >= 0 && len(id) > shortMax && strings.Trim(id, "0123456789abcdef") == "" {
		return handle[:dot+1] + id[:shortMax]
	}
	return handle
}
