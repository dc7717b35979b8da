package record

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
	Root       = "/calico/"
	IpamRoot   = "/calico/ipam/v2/"
	blockRoot  = "/calico/ipam/v2/assignment/"
	ConfigPath = "/calico/ipam/v2/config"
)

// followEtcd reads the etcdv3 datastore from the bridge's own copy.
func (r *Record) followEtcd(store *etcd.Run) {
	store.Scan(Root, func(path string, value []byte, rev int64) {
		r.Note(path, Change{Read: func() (*bmodel.KVPair, error) { return EtcdPair(path, value, rev) }})
	})
	store.OnEvent(func(e etcd.Event) {
		switch {
		case !strings.HasPrefix(e.Key, Root):
		case e.Deleted:
			r.Note(e.Key, Change{})
		default:
			r.Note(e.Key, Change{
				Read:  func() (*bmodel.KVPair, error) { return EtcdPair(e.Key, e.Value, e.Revision) },
				after: strconv.FormatInt(e.PrevRevision, 10),
			})
		}
	})
}

// EtcdPair decodes a key and its value with upstream's own model. It is nil for a value that does
// not concern addresses.
//
// Source: libcalico-go/lib/backend/etcdv3, convertListResponse (v3.31).
func EtcdPair(path string, value []byte, rev int64) (*bmodel.KVPair, error) {
	k := EtcdKey(path)
	if k == nil {
		return nil, nil
	}
	v, err := bmodel.ParseValue(k, value)
	if err != nil {
		return nil, err
	}
	return &bmodel.KVPair{Key: k, Value: v, Revision: strconv.FormatInt(rev, 10)}, nil
}

// EtcdKey parses the relevant keys. KeyFromDefaultPath, which is Typha's, knows neither the IPAM
// configuration nor affinities of owners other than hosts.
func EtcdKey(path string) bmodel.Key {
	switch {
	case path == ConfigPath:
		return bmodel.IPAMConfigKey{}
	case strings.HasPrefix(path, IpamRoot):
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
