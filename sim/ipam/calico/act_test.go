package calico

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	calicoipam "github.com/projectcalico/calico/libcalico-go/lib/ipam"

	"ipamsim/model/act"
	"ipamsim/reports/prose"
	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/record"
	"ipamsim/sim/ipam/calico/store"
	"ipamsim/sim/kube"
)

// acts are the descriptions of a story's messages, one per line.
func (b *books) acts(story func()) string {
	b.t.Helper()
	b.observe()
	b.world.Hooks.Step = func(*sim.Step) { b.observe() } // as a judge does
	from := len(b.world.Trace().Steps)
	direct := b.c
	c, err := b.inst.ds.Client(b.gate, 0)
	b.must(err)
	b.c = c
	story()
	b.c = direct
	b.env.Store.Pump()
	var out []string
	for _, s := range b.world.Trace().Steps[from:] {
		if words := prose.Act(new(b.inst.Act(s.Detail))); words != "" {
			out = append(out, words)
		} else {
			out = append(out, "? "+s.Choice.Op.Key)
		}
	}
	return strings.Join(out, "\n")
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if want = strings.TrimSpace(want); got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", what, got, want)
	}
}

// A node's first address, an address that another node borrows, its release, and the removal of
// the node, as a report describes them.
func TestAct(t *testing.T) {
	s := startEtcd(t)
	open(t, s, store.Etcd, func(b *books) {
		b.staging()
		same(t, "first", b.acts(func() { b.mustAdd("kubestage1001", "web-0") }), `
reads the reservations: none
reads Calico's node kubestage1001
reads the pools: default-ipv4-ippool 10.64.75.0/29
reads the affinities of kubestage1001: none
reads the IPAM configuration: StrictAffinity false, AutoAllocateBlocks true, MaxBlocksPerHost 0
reads the IPAM configuration: StrictAffinity false, AutoAllocateBlocks true, MaxBlocksPerHost 0
reads the blocks: none
claims block 10.64.75.0/29 for kubestage1001 (affinity pending)
finds no block 10.64.75.0/29
marks the affinity of kubestage1001 to 10.64.75.0/29 as pending, if still at revision 10
reads the IPAM configuration: StrictAffinity false, AutoAllocateBlocks true, MaxBlocksPerHost 0
creates block 10.64.75.0/29 for kubestage1001
confirms the affinity of kubestage1001 to 10.64.75.0/29, if still at revision 11
finds no handle k8s-pod-network.c-web-0
writes handle k8s-pod-network.c-web-0: 1 in 10.64.75.0/29
writes block 10.64.75.0/29 of kubestage1001: 10.64.75.0 for default/web-0, if still at revision 12`)
		same(t, "borrowed", b.acts(func() { b.mustAdd("kubestage1003", "web-2") }), `
reads the reservations: none
reads Calico's node kubestage1003
reads the pools: default-ipv4-ippool 10.64.75.0/29
reads the affinities of kubestage1003: none
reads the IPAM configuration: StrictAffinity false, AutoAllocateBlocks true, MaxBlocksPerHost 0
reads the IPAM configuration: StrictAffinity false, AutoAllocateBlocks true, MaxBlocksPerHost 0
reads the blocks: 10.64.75.0/29 of kubestage1001 1 of 8 used
reads block 10.64.75.0/29 of kubestage1001 at revision 15: 1 of 8 used
finds no handle k8s-pod-network.c-web-2
writes handle k8s-pod-network.c-web-2: 1 in 10.64.75.0/29
writes block 10.64.75.0/29 of kubestage1001: 10.64.75.1 for default/web-2, if still at revision 15`)
		same(t, "released", b.acts(b.release("web-2")), `
reads handle k8s-pod-network.c-web-2 at revision 16: 1 in 10.64.75.0/29
reads block 10.64.75.0/29 of kubestage1001 at revision 17: 2 of 8 used
writes block 10.64.75.0/29 of kubestage1001: releases 10.64.75.1 of default/web-2, if still at revision 17
reads handle k8s-pod-network.c-web-2 at revision 16: 1 in 10.64.75.0/29
deletes handle k8s-pod-network.c-web-2, if still at revision 16
reads Calico's node kubestage1001
reads the pools: default-ipv4-ippool 10.64.75.0/29`)
		same(t, "given up", b.acts(b.leave("kubestage1001")), `
reads the affinities of kubestage1001: 10.64.75.0/29
reads the affinity of kubestage1001 to 10.64.75.0/29 at revision 13: confirmed
reads block 10.64.75.0/29 of kubestage1001 at revision 18: 1 of 8 used
marks the affinity of kubestage1001 to 10.64.75.0/29 as pendingDeletion, if still at revision 13
writes block 10.64.75.0/29: affinity removed, if still at revision 18
deletes the affinity of kubestage1001 to 10.64.75.0/29, if still at revision 20
reads the affinities of kubestage1001: none`)
		same(t, "repaired", b.acts(func() {
			b.must(b.inst.Change(context.Background(), b.gate, ipam.Delete, ipam.Object{Kind: "IPAMBlock", Name: "10-64-75-0-29"}))
		}), `
reads the blocks: 10.64.75.0/29 1 of 8 used
deletes block 10.64.75.0/29`)
	})
}

// The requests of the Kubernetes datastore are described in the same words. This datastore marks
// objects before it deletes them.
func TestActOfExchanges(t *testing.T) {
	s := startEtcd(t)
	open(t, s, store.Kubernetes, func(b *books) {
		b.staging()
		b.mustAdd("kubestage1001", "web-0")
		same(t, "borrowed", b.acts(func() { b.mustAdd("kubestage1003", "web-2") }), `
reads the reservations: none
reads Calico's node kubestage1003
reads the pools: default-ipv4-ippool 10.64.75.0/29
reads the affinities: none
reads the IPAM configuration: StrictAffinity false, AutoAllocateBlocks true, MaxBlocksPerHost 0
reads the IPAM configuration: StrictAffinity false, AutoAllocateBlocks true, MaxBlocksPerHost 0
reads the blocks: 10.64.75.0/29 of kubestage1001 1 of 8 used
reads block 10.64.75.0/29 of kubestage1001 at revision 10: 1 of 8 used
finds no handle k8s-pod-network.c-web-2
writes handle k8s-pod-network.c-web-2: 1 in 10.64.75.0/29
writes block 10.64.75.0/29 of kubestage1001: 10.64.75.1 for default/web-2, if still at revision 10`)
		same(t, "released", b.acts(b.release("web-2")), `
reads handle k8s-pod-network.c-web-2 at revision 11: 1 in 10.64.75.0/29
reads block 10.64.75.0/29 of kubestage1001 at revision 12: 2 of 8 used
writes block 10.64.75.0/29 of kubestage1001: releases 10.64.75.1 of default/web-2, if still at revision 12
reads handle k8s-pod-network.c-web-2 at revision 11: 1 in 10.64.75.0/29
marks handle k8s-pod-network.c-web-2 as deleted, if still at revision 11
reads handle k8s-pod-network.c-web-2 at revision 14: no addresses, marked as deleted
deletes handle k8s-pod-network.c-web-2
reads Calico's node kubestage1001
reads the pools: default-ipv4-ippool 10.64.75.0/29`)
		same(t, "given up", b.acts(b.leave("kubestage1001")), `
reads the affinities: 10.64.75.0/29 of kubestage1001
reads the affinity of kubestage1001 to 10.64.75.0/29 at revision 8: confirmed
reads block 10.64.75.0/29 of kubestage1001 at revision 13: 1 of 8 used
marks the affinity of kubestage1001 to 10.64.75.0/29 as pendingDeletion, if still at revision 8
writes block 10.64.75.0/29: affinity removed, if still at revision 13
marks the affinity of kubestage1001 to 10.64.75.0/29 as deleted, if still at revision 16
reads the affinity of kubestage1001 to 10.64.75.0/29 at revision 18: pendingDeletion, marked as deleted
deletes the affinity of kubestage1001 to 10.64.75.0/29
reads the affinities: none`)
	})
}

func (b *books) staging() {
	b.t.Helper()
	b.pool("default-ipv4-ippool", "10.64.75.0/29", 29)
	b.node("kubestage1001", nil)
	b.node("kubestage1003", nil)
	b.must(b.c.IPAM().SetIPAMConfig(context.Background(), calicoipam.IPAMConfig{AutoAllocateBlocks: true}))
}

func (b *books) mustAdd(node, pod string) {
	b.t.Helper()
	_, err := b.add(node, pod)
	b.must(err)
}

func (b *books) release(pod string) func() {
	return func() { b.must(b.c.IPAM().ReleaseByHandle(context.Background(), "k8s-pod-network.c-"+pod)) }
}

func (b *books) leave(node string) func() {
	return func() {
		b.must(b.c.IPAM().ReleaseHostAffinities(context.Background(), calicoipam.AffinityConfig{AffinityType: calicoipam.AffinityTypeHost, Host: node}, false))
	}
}

// Refusals, faults, tunnels, long handles and messages that do not concern addresses.
func TestActOne(t *testing.T) {
	const path = "/calico/ipam/v2/assignment/ipv4/block/10.0.0.0-30"
	pair := func(path, value string) *bmodel.KVPair {
		kv, err := record.EtcdPair(path, []byte(value), 7)
		if err != nil {
			t.Fatal(err)
		}
		return kv
	}
	block := pair(path, `{"cidr":"10.0.0.0/30","affinity":"host:a","allocations":[0,1,null,2],"sequenceNumber":9,"sequenceNumberForAllocation":{"0":8,"1":8,"3":8},
		"attributes":[{"handle_id":"x","secondary":{"type":"vxlanTunnelAddress","node":"a"}},{"handle_id":"k8s-pod-network.0123456789abcdef0123"}]}`)
	handle := pair(record.IpamRoot+"handle/k8s-pod-network.0123456789abcdef0123", `{"block":{}}`)
	affinity := pair(record.IpamRoot+"host/a/ipv4/block/10.0.0.0-30", `{"state":"pending"}`)
	pool := &bmodel.KVPair{Key: bmodel.ResourceKey{Kind: "IPPool", Name: "p"}, Value: &apiv3.IPPool{Spec: apiv3.IPPoolSpec{CIDR: "10.0.0.0/8", Disabled: true}}}
	i := &instance{}
	for _, c := range []struct {
		detail any
		want   string
	}{
		{store.Call{Verb: "Update", Path: path, In: block, Err: "update conflict: BlockKey(cidr=10.0.0.0/30)"},
			"writes block 10.0.0.0/30 of a: 10.0.0.0 for the tunnel of a, 10.0.0.1 for handle k8s-pod-network.0123456789ab, 10.0.0.3 for an unknown owner, if still at revision 7: refused, the block has changed"},
		{store.Call{Verb: "Create", Path: path, In: block, Err: "resource already exists: x"}, "creates block 10.0.0.0/30 for a: refused, it already exists"},
		{store.Call{Verb: "Get", Path: path, Err: "etcdserver: request timed out"}, "requests block 10.0.0.0/30"},
		{store.Call{Verb: "Hear", Path: path, Gone: true, Out: block}, "observes that block 10.0.0.0/30 was deleted"},
		{store.Call{Verb: "Hear", Path: path, Out: block}, "observes block 10.0.0.0/30 of a: 3 of 4 used"},
		{store.Call{Verb: "Hear", Err: "gone"}, ""},
		{store.Call{Verb: "Create", In: affinity, Err: "resource already exists: x"}, "claims block 10.0.0.0/30 for a (affinity pending): refused, it already exists"},
		{store.Call{Verb: "Delete", In: affinity, Err: "resource does not exist: x"}, "deletes the affinity of a to 10.0.0.0/30, if still at revision 7: refused, it no longer exists"},
		{store.Call{Verb: "Get", Path: record.IpamRoot + "host/a/ipv4/block/10.0.0.0-30", Err: "resource does not exist: x"}, "finds no affinity of a to 10.0.0.0/30"},
		{store.Call{Verb: "Update", In: handle}, "writes handle k8s-pod-network.0123456789ab: no addresses, if still at revision 7"},
		{store.Call{Verb: "List", Path: record.IpamRoot + "host/a/ipv4/block", Err: "failed"}, "requests the affinities of a"},
		{store.Call{Verb: "List", Path: record.IpamRoot + "host/a/ipv4/block", Out: &bmodel.KVPairList{KVPairs: []*bmodel.KVPair{affinity}}}, "reads the affinities of a: 10.0.0.0/30 (pending)"},
		{store.Call{Verb: "Apply", Path: record.ConfigPath, In: pair(record.ConfigPath, `{"strict_affinity":true}`)}, "writes the IPAM configuration: StrictAffinity true, AutoAllocateBlocks false, MaxBlocksPerHost 0, if still at revision 7"},
		{store.Call{Verb: "Delete", Path: record.ConfigPath}, "deletes the IPAM configuration"},
		{store.Call{Verb: "Update", In: pool, Err: "boom"}, "changes pool p 10.0.0.0/8 (disabled): failed"},
		{store.Call{Verb: "Delete", Path: "/calico/resources/v3/projectcalico.org/ippools/p"}, "deletes pool p"},
		{store.Call{Verb: "Watch", Path: record.IpamRoot + "assignment/"}, ""},
		{kube.Exchange{Verb: "delete", Resource: "blockaffinities", Name: "node-1-fd00--40-122", Status: 200}, "deletes the affinity of node-1 to fd00::40/122"},
		{kube.Exchange{Verb: "delete", Resource: "ipamblocks", Name: "10-64-75-0-26", Status: 404}, "deletes block 10.64.75.0/26: refused, it no longer exists"},
		{kube.Exchange{Verb: "update", Resource: "ipamblocks", Name: "10-64-75-0-26", Request: []byte(`{"kind":"IPAMBlock","metadata":{"name":"10-64-75-0-26","resourceVersion":"5"},"spec":{"cidr":"10.64.75.0/26","affinity":"host:b"}}`), Status: 409, Reason: "Conflict"},
			"writes block 10.64.75.0/26 of b: 0 of 64 used, if still at revision 5: refused, the block has changed"},
		{kube.Exchange{Verb: "patch", Resource: "ippools", Name: "p", Status: 500}, "changes pool p: failed"},
		{kube.Exchange{Verb: "event", Resource: "ippools", Name: "p", Status: 200, Response: []byte(`{"type":"DELETED","object":{"kind":"IPPool","metadata":{"name":"p"},"spec":{"cidr":"10.0.0.0/8"}}}`)}, "observes that pool p 10.0.0.0/8 was deleted"},
		{kube.Exchange{Verb: "get", Resource: "ipamblocks", Name: "nonsense", Status: 200, Response: []byte(`{}`)}, ""},
		{kube.Exchange{Verb: "create", Resource: "ipamconfigs", Name: "x", Status: 201, Request: []byte(`{"kind":"IPAMConfig","metadata":{"name":"x"},"spec":{}}`)}, ""},
		{kube.Exchange{Verb: "list", Resource: "pods"}, ""},
		{kube.Exchange{Verb: "update", Resource: "nodes", Name: "a"}, ""},
		{nil, ""}, {"nonsense", ""},
	} {
		if got := prose.Act(new(i.Act(c.detail))); got != c.want {
			t.Errorf("%+v\n got %s\nwant %s", c.detail, got, c.want)
		}
	}
}

// The objects of a call: of a write of a block only the assigned addresses, of a list its elements.
func TestActIsAbout(t *testing.T) {
	s := startEtcd(t)
	open(t, s, store.Etcd, func(b *books) {
		b.staging()
		b.mustAdd("kubestage1001", "web-0")
		b.acts(func() { b.mustAdd("kubestage1003", "web-2") })
		var got []string
		for _, s := range b.world.Trace().Steps {
			if a := b.inst.Act(s.Detail); len(a.Refs()) > 0 {
				got = append(got, fmt.Sprintf("%s %v %s", a.Verb, a.Refs(), a.Left))
			}
		}
		same(t, "about", strings.Join(got, "\n"), `
get [node kubestage1003] 
list [pool default-ipv4-ippool] 
list [node kubestage1003] 
list [block 10.64.75.0/29 node kubestage1001] 
get [address 10.64.75.0 block 10.64.75.0/29 node kubestage1001 pod default/web-0] 
get [handle k8s-pod-network.c-web-2] 
create [block 10.64.75.0/29 handle k8s-pod-network.c-web-2] 16
update [address 10.64.75.1 block 10.64.75.0/29 node kubestage1001 pod default/web-2] 17`)
	})
	a := (&instance{}).Act(store.Call{Verb: "Get", Err: "resource does not exist: x"})
	if a.Outcome != act.Absent || a.Left != "" || len(a.Refs()) != 0 {
		t.Errorf("%+v", a)
	}
}

// A call in the trace that has only its keys still names its objects.
func TestActOfShortCall(t *testing.T) {
	kv, err := record.EtcdPair("/calico/ipam/v2/assignment/ipv4/block/10.0.0.0-30", []byte(`{"cidr":"10.0.0.0/30","affinity":"host:a","allocations":[0],"attributes":[{"handle_id":"x"}]}`), 7)
	if err != nil {
		t.Fatal(err)
	}
	long := store.Call{Verb: "Update", Path: "/calico/ipam/v2/assignment/ipv4/block/10.0.0.0-30", In: kv, Err: "update conflict: x"}
	a := (&instance{}).Act(long.Short())
	if !a.Bare || a.Outcome != act.Conflict || fmt.Sprint(a.Refs()) != "[block 10.0.0.0/30]" {
		t.Errorf("%+v", a)
	}
}
