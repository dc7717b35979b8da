package calico

import (
	"strconv"
	"strings"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"

	"ipamsim/sim/etcd"
)

// Where Calico's keys lie in etcd.
const (
	root       = "/calico/"
	ipamRoot   = "/calico/ipam/v2/"
	blockRoot  = "/calico/ipam/v2/assignment/"
	configPath = "/calico/ipam/v2/config"
)

// followEtcd reads the etcdv3 datastore from the bridge's own copy.
func (r *record) followEtcd(store *etcd.Run) {
	store.Scan(root, func(path string, value []byte, rev int64) {
		r.note(path, change{read: func() (*bmodel.KVPair, error) { return etcdPair(path, value, rev) }})
	})
	store.OnEvent(func(e etcd.Event) {
		switch {
		case !strings.HasPrefix(e.Key, root):
		case e.Deleted:
			r.note(e.Key, change{})
		default:
			r.note(e.Key, change{
				read:  func() (*bmodel.KVPair, error) { return etcdPair(e.Key, e.Value, e.Revision) },
				after: strconv.FormatInt(e.PrevRevision, 10),
			})
		}
	})
}

// etcdPair decodes a key and its value with upstream's own model. What says
// nothing about addresses is nil.
//
// Source: libcalico-go/lib/backend/etcdv3, convertListResponse (v3.31).
func etcdPair(path string, value []byte, rev int64) (*bmodel.KVPair, error) {
	k := etcdKey(path)
	if k == nil {
		return nil, nil
	}
	v, err := bmodel.ParseValue(k, value)
	if err != nil {
		return nil, err
	}
	return &bmodel.KVPair{Key: k, Value: v, Revision: strconv.FormatInt(rev, 10)}, nil
}

// etcdKey parses the keys that count. KeyFromDefaultPath, which is Typha's, knows
// neither the IPAM configuration nor affinities of what is no host.
func etcdKey(path string) bmodel.Key {
	switch {
	case path == configPath:
		return bmodel.IPAMConfigKey{}
	case strings.HasPrefix(path, ipamRoot):
		if k := bmodel.KeyFromDefaultPath(path); k != nil {
			return k
		}
		return bmodel.BlockAffinityListOptions{}.KeyFromDefaultPath(path)
	}
	if k, ok := bmodel.KeyFromDefaultPath(path).(bmodel.ResourceKey); ok {
		switch k.Kind {
		case apiv3.KindIPPool, apiv3.KindIPReservation, libapiv3.KindNode:
			return k
		}
	}
	return nil
}
