package calico

import (
	"errors"
	"testing"
)

// Whatever lies in etcd under Calico's keys is read or refused, and told, without
// a panic.
func FuzzRecord(f *testing.F) {
	for _, s := range []struct{ path, value string }{
		{ipamRoot + "assignment/ipv4/block/10.0.0.0-30", `{"cidr":"10.0.0.0/30","affinity":"host:a","allocations":[0,null,7,-1],"unallocated":[1],"attributes":[{"handle_id":"k8s-pod-network.c","secondary":{"pod":"p","namespace":"d","node":"a"}}],"sequenceNumber":3,"sequenceNumberForAllocation":{"0":2}}`},
		{ipamRoot + "assignment/ipv6/block/fd00::-122", `{"cidr":"fd00::/122","allocations":[],"attributes":null,"deleted":true}`},
		{ipamRoot + "host/a/ipv4/block/10.0.0.0-30", `{"state":"pending","deleted":false}`},
		{ipamRoot + "virtual/load-balancer/ipv4/block/10.0.0.0-30", ``},
		{ipamRoot + "handle/k8s-pod-network.c", `{"block":{"10.0.0.0/30":1},"deleted":false}`},
		{configPath, `{"strict_affinity":true,"auto_allocate_blocks":true,"maxBlocksPerHost":2}`},
		{"/calico/resources/v3/projectcalico.org/ippools/p", `{"metadata":{"name":"p"},"spec":{"cidr":"10.0.0.0/16","nodeSelector":"a ==","allowedUses":["Tunnel"],"assignmentMode":"Manual"}}`},
		{"/calico/resources/v3/projectcalico.org/ipreservations/r", `{"spec":{"reservedCIDRs":["10.0.0.1","x","::/0"]}}`},
		{"/calico/resources/v3/projectcalico.org/nodes/n", `{"metadata":{"labels":{"a":"b"}}}`},
	} {
		f.Add(s.path, []byte(s.value))
	}
	f.Fuzz(func(t *testing.T, path string, value []byte) {
		kv, err := etcdPair(path, value, 7)
		if kv == nil || err != nil {
			return
		}
		r := blankRecord()
		_, err = r.file(path, kv)
		if s, bad := r.observe(); err == nil && (bad != nil || len(s.Networks) != 1) || errors.Is(bad, ErrMalformed) {
			t.Errorf("%+v %v", s, bad)
		}
		i := &instance{record: r}
		for verb := range acts {
			c := Call{Verb: verb, Path: path, In: kv}
			_, _ = i.Describe(c), c.About()
			c = Call{Verb: verb, Path: path, Out: kv}
			_, _ = i.Describe(c), c.About()
		}
	})
}
