package calico

import (
	"errors"
	"testing"

	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"

	"ipamsim/reports/prose"
	"ipamsim/sim/ipam/calico/record"
	"ipamsim/sim/ipam/calico/store"
	"ipamsim/sim/kube"
)

// Any value under Calico's keys in etcd is decoded or rejected, and described, without a panic.
func FuzzRecord(f *testing.F) {
	for _, s := range []struct{ path, value string }{
		{record.IpamRoot + "assignment/ipv4/block/10.0.0.0-30", `{"cidr":"10.0.0.0/30","affinity":"host:a","allocations":[0,null,7,-1],"unallocated":[1],"attributes":[{"handle_id":"k8s-pod-network.c","secondary":{"pod":"p","namespace":"d","node":"a"}}],"sequenceNumber":3,"sequenceNumberForAllocation":{"0":2}}`},
		{record.IpamRoot + "assignment/ipv6/block/fd00::-122", `{"cidr":"fd00::/122","allocations":[],"attributes":null,"deleted":true}`},
		{record.IpamRoot + "host/a/ipv4/block/10.0.0.0-30", `{"state":"pending","deleted":false}`},
		{record.IpamRoot + "virtual/load-balancer/ipv4/block/10.0.0.0-30", ``},
		{record.IpamRoot + "handle/k8s-pod-network.c", `{"block":{"10.0.0.0/30":1},"deleted":false}`},
		{record.ConfigPath, `{"strict_affinity":true,"auto_allocate_blocks":true,"maxBlocksPerHost":2}`},
		{"/calico/resources/v3/projectcalico.org/ippools/p", `{"metadata":{"name":"p"},"spec":{"cidr":"10.0.0.0/16","nodeSelector":"a ==","allowedUses":["Tunnel"],"assignmentMode":"Manual"}}`},
		{"/calico/resources/v3/projectcalico.org/ipreservations/r", `{"spec":{"reservedCIDRs":["10.0.0.1","x","::/0"]}}`},
		{"/calico/resources/v3/projectcalico.org/nodes/n", `{"metadata":{"labels":{"a":"b"}}}`},
	} {
		f.Add(s.path, []byte(s.value))
	}
	f.Fuzz(func(t *testing.T, path string, value []byte) {
		kv, err := record.EtcdPair(path, value, 7)
		if kv == nil || err != nil {
			return
		}
		r := record.Blank()
		_, err = r.File(path, kv)
		if s, bad := r.Observe(); err == nil && (bad != nil || len(s.Networks) != 1) || errors.Is(bad, record.ErrMalformed) {
			t.Errorf("%+v %v", s, bad)
		}
		i := &instance{record: r}
		for verb := range record.Verbs {
			c := store.Call{Verb: verb, Path: path, In: kv}
			_ = prose.Act(new(i.Act(c)))
			c = store.Call{Verb: verb, Path: path, Out: kv}
			_ = prose.Act(new(i.Act(c)))
		}
	})
}

// Any content of a custom resource is described, and decoded or rejected, without a panic.
func FuzzAct(f *testing.F) {
	for i, s := range []string{
		`{"kind":"IPAMBlock","metadata":{"name":"10-0-0-0-30","resourceVersion":"5"},"spec":{"cidr":"10.0.0.0/30","affinity":"host:a","allocations":[0,null,9],"attributes":[{"handle_id":"h"}],"sequenceNumber":3,"sequenceNumberForAllocation":{"0":2}}}`,
		`{"kind":"BlockAffinity","metadata":{"name":"a-10-0-0-0-30"},"spec":{"cidr":"10.0.0.0/30","node":"a","state":"pending","deleted":"true"}}`,
		`{"kind":"IPAMHandle","metadata":{"name":"h"},"spec":{"handleID":"h","block":{"10.0.0.0/30":1}}}`,
		`{"kind":"IPAMConfig","metadata":{"name":"default"},"spec":{"strictAffinity":true}}`,
		`{"kind":"IPPool","metadata":{"name":"p"},"spec":{"cidr":"10.0.0.0/16","ipip":{"enabled":true}}}`,
		`{"kind":"IPReservation","metadata":{"name":"r"},"spec":{"reservedCIDRs":["10.0.0.1"]}}`,
		`{"kind":"Node","metadata":{"name":"n","labels":{"a":"b"}}}`,
	} {
		f.Add(byte(i), "10-0-0-0-30", 200, []byte(s))
	}
	f.Fuzz(func(_ *testing.T, which byte, name string, status int, body []byte) {
		i := &instance{record: record.Blank()}
		resource := record.Roots[int(which)%len(record.Roots)].Resource
		for _, verb := range []string{"get", "list", "create", "update", "patch", "delete", "event"} {
			x := kube.Exchange{Verb: verb, Resource: resource, Name: name, Status: status, Request: body, Response: body}
			_ = prose.Act(new(i.Act(x)))
			x.Response = []byte(`{"type":"MODIFIED","items":[` + string(body) + `],"object":` + string(body) + `}`)
			_ = prose.Act(new(i.Act(x)))
		}
		if kv := record.PairOf(resource, body); kv != nil {
			i.record.Note(resource, record.Change{Read: func() (*bmodel.KVPair, error) { return record.PairOf(resource, body), nil }})
			_, _ = i.record.Observe()
		}
	})
}
