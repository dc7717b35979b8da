package record

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	"github.com/projectcalico/calico/libcalico-go/lib/names"
	cnet "github.com/projectcalico/calico/libcalico-go/lib/net"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"ipamsim/model/act"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// Roots are the resources of the Kubernetes datastore, with where etcd has what
// they hold and with the kind of those that are the same in both.
var Roots = []struct{ Resource, path, kind string }{
	{"ipamblocks", blockRoot, ""},
	{"blockaffinities", IpamRoot + "host/", ""},
	{"ipamhandles", IpamRoot + "handle/", ""},
	{"ipamconfigs", ConfigPath, ""},
	{"ippools", "/calico/resources/v3/projectcalico.org/ippools", apiv3.KindIPPool},
	{"ipreservations", "/calico/resources/v3/projectcalico.org/ipreservations", apiv3.KindIPReservation},
	{"nodes", "/calico/resources/v3/projectcalico.org/nodes", libapiv3.KindNode},
}

// messageOfExchange is the content of an exchange with the API server. It sets libcalico-go's verb
// in the act. ok is false if the exchange does not concern addresses, or opens a watch.
func messageOfExchange(x kube.Exchange, a *act.Act) (m *message, ok bool) {
	i := slices.IndexFunc(Roots, func(r struct{ Resource, path, kind string }) bool { return r.Resource == x.Resource })
	if i < 0 || x.Subresource != "" || x.Resource == "nodes" && a.Verb != act.Read {
		return nil, false
	}
	m = &message{path: Roots[i].path}
	switch a.Verb {
	case act.List:
		m.all = itemsOf(x)
		return m, true
	case act.Hear:
		m.gone, m.out = eventOf(x)
	case act.Patch: // which is not decoded
		a.Verb = act.Update
		m.out = answerOf(x)
	case act.Delete:
	case act.Read, act.Create, act.Update:
		m.in, m.out = PairOf(x.Resource, x.Request), answerOf(x)
	default:
		return nil, false
	}
	switch {
	case m.in != nil:
		m.key = m.in.Key
	case m.out != nil:
		m.key = m.out.Key
	default:
		m.key = keyOfName(x.Resource, Roots[i].kind, x.Name)
	}
	return m, m.key != nil
}

// answerOf is the object in the answer, nil if it was refused.
func answerOf(x kube.Exchange) *bmodel.KVPair {
	if x.Status >= http.StatusMultipleChoices {
		return nil
	}
	return PairOf(x.Resource, x.Response)
}

// PairOf decodes a body, or is nil.
func PairOf(resource string, body []byte) *bmodel.KVPair {
	if resource == "nodes" {
		n := &corev1.Node{}
		if json.Unmarshal(kube.JSON(body), n) != nil || n.Name == "" {
			return nil
		}
		return NodePair(n)
	}
	u := &unstructured.Unstructured{}
	if u.UnmarshalJSON(body) != nil {
		return nil
	}
	kv, err := kubePair(resource, u)
	if err != nil || kv == nil {
		return nil
	}
	if _, ok := kv.Key.(bmodel.ResourceKey); ok {
		kv.Key = keyOfName(resource, u.GetKind(), u.GetName())
	}
	return kv
}

func itemsOf(x kube.Exchange) []*bmodel.KVPair {
	var l struct {
		Items []json.RawMessage `json:"items"`
	}
	if json.Unmarshal(x.Response, &l) != nil {
		return nil
	}
	var out []*bmodel.KVPair
	for _, item := range l.Items {
		if kv := PairOf(x.Resource, item); kv != nil {
			out = append(out, kv)
		}
	}
	return out
}

func eventOf(x kube.Exchange) (gone bool, kv *bmodel.KVPair) {
	object, gone, ok := ipam.Heard(x.Response)
	if !ok {
		return false, nil
	}
	return gone, PairOf(x.Resource, object)
}

// keyOfName is the key of an object, derived from its name. The name of an affinity is ambiguous
// about the end of the host name; the shortest possible block is taken.
func keyOfName(resource, kind, name string) bmodel.Key {
	switch resource {
	case "ipamblocks":
		if p, ok := networkOf(name); ok {
			return bmodel.BlockKey{CIDR: p}
		}
	case "blockaffinities":
		for i := len(name) - 1; i > 0; i-- {
			if p, ok := networkOf(name[i:]); ok && name[i-1] == '-' {
				return bmodel.BlockAffinityKey{CIDR: p, Host: name[:i-1]}
			}
		}
	case "ipamhandles":
		return bmodel.IPAMHandleKey{HandleID: name}
	case "ipamconfigs":
		return bmodel.IPAMConfigKey{}
	case "ippools", "ipreservations", "nodes":
		return bmodel.ResourceKey{Kind: kind, Name: name}
	}
	return nil
}

// networkOf is the network that a name encodes.
//
// Source: libcalico-go/lib/names, CIDRToName (v3.31), whose inverse it is.
func networkOf(name string) (cnet.IPNet, bool) {
	slash := strings.LastIndexByte(name, '-')
	if slash < 0 {
		return cnet.IPNet{}, false
	}
	for _, sep := range []string{".", ":"} {
		_, n, err := cnet.ParseCIDR(strings.ReplaceAll(name[:slash], "-", sep) + "/" + name[slash+1:])
		if err == nil && names.CIDRToName(*n) == name {
			return *n, true
		}
	}
	return cnet.IPNet{}, false
}
