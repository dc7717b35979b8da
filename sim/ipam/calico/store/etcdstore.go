package store

import (
	"reflect"

	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"

	"ipamsim/sim"
	"ipamsim/sim/etcd"
)

// etcdStore is the real etcdv3 backend over the run's bridged client. A call of
// it is one message: upstream's own unit, and nearly always one transaction.
type etcdStore struct{ run *etcd.Run }

// Client costs some microseconds: nothing dials, nothing is left running.
func (s *etcdStore) Client(g *sim.Gate, _ float32) (clientv3.Interface, error) {
	be, err := s.backend()
	if err != nil {
		return nil, err
	}
	if g != nil {
		be = &gated{Client: be, g: g}
	}
	return WithBackend(be)
}

func (s *etcdStore) backend() (bapi.Client, error) { return OverEtcd(s.run.Client()) }

// OverEtcd is a new etcdv3 backend whose unexported etcdClient is the given client of etcd.
//
// Source: libcalico-go/lib/backend/etcdv3, etcdV3Client.
func OverEtcd(etcdClient any) (bapi.Client, error) {
	c, err := Template()
	if err != nil {
		return nil, err
	}
	v := reflect.New(reflect.TypeOf(Backend(c)).Elem())
	Set(v.Elem().FieldByName("etcdClient"), etcdClient)
	return v.Interface().(bapi.Client), nil
}
