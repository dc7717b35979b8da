package calico

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	cerrors "github.com/projectcalico/calico/libcalico-go/lib/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/objects"
	"ipamsim/sim/ipam/calico/store"
)

// do makes one change as an operator; "" is success.
func (b *books) do(v ipam.Verb, kind, name, body string) string {
	b.t.Helper()
	err := b.inst.Change(context.Background(), nil, v, ipam.Object{Kind: kind, Name: name, Body: []byte(body)})
	if err != nil {
		return err.Error()
	}
	return ""
}

// make stores a manifest, in one line of YAML.
func (b *books) make(t testing.TB, v ipam.Verb, doc string) error {
	t.Helper()
	return b.inst.Change(context.Background(), nil, v, manifests(t, doc)[0])
}

func (b *books) named(kind string) string {
	b.t.Helper()
	names, err := b.inst.Names(context.Background(), nil, kind)
	b.must(err)
	return strings.Join(names, " ")
}

// An operator of etcd creates, applies, patches and deletes every kind, and what
// is wrong is refused in Calico's words at any time.
func TestKeeper(t *testing.T) {
	s := startEtcd(t)
	open(t, s, store.Etcd, func(b *books) {
		for _, k := range objects.Kinds {
			if !b.inst.Keeps(k.Name) {
				t.Errorf("%s is not kept", k.Name)
			}
		}
		if b.inst.Keeps("Pod") || b.inst.Keeps("Node") {
			t.Error("it keeps what is not Calico's")
		}
		must := func(err error) { t.Helper(); b.must(err) }
		pool := func() string { return fmt.Sprintf("%+v", b.observe().Networks[0].Blocks.Pools) }
		must(b.make(t, ipam.Create, crd("IPPool", "p", "cidr: 10.0.0.0/16")))
		must(b.make(t, ipam.Apply, crd("IPPool", "p", "cidr: 10.0.0.0/16, blockSize: 26, disabled: true")))
		if !strings.Contains(pool(), "Disabled:true") {
			t.Error(pool())
		}
		if e := b.do(ipam.Merge, "IPPool", "p", `{"spec":{"disabled":false,"disableBGPExport":true}}`); e != "" || !strings.Contains(pool(), "Disabled:false") || !strings.Contains(pool(), "NoExport:true") {
			t.Error(e, pool())
		}
		if e := b.do(ipam.JSON, "IPPool", "p", `[{"op":"add","path":"/spec/nodeSelector","value":"none =="}]`); !strings.Contains(e, "because of Tag: selector") {
			t.Error(e)
		}
		if e := b.do(ipam.JSON, "IPPool", "p", `[{"op":"replace","path":"/spec/blockSize","value":27}]`); !strings.Contains(e, "IPPool BlockSize cannot be modified") {
			t.Error(e)
		}
		if e := b.do(ipam.Merge, "IPPool", "p", `{"spec":{"colour":"red"}}`); !strings.Contains(e, `unknown field "spec.colour"`) {
			t.Error(e)
		}
		if e := b.do(ipam.Merge, "IPPool", "none", `{}`); !strings.Contains(e, "resource does not exist: IPPool(none)") {
			t.Error(e)
		}
		if err := b.make(t, ipam.Create, crd("IPPool", "p", "cidr: 10.0.0.0/16")); !errors.As(err, &cerrors.ErrorResourceAlreadyExists{}) {
			t.Error(err)
		}
		must(b.make(t, ipam.Create, crd("IPPool", "q", "cidr: 10.1.0.0/16")))
		if got := b.named("IPPool"); got != "p q" {
			t.Error(got)
		}
		if e := b.do(ipam.Delete, "IPPool", "p", ""); e != "" || strings.Contains(pool(), "10.0.0.0/16") {
			t.Error(e, pool())
		}
		must(b.make(t, ipam.Create, crd("IPReservation", "r", "reservedCIDRs: [10.1.0.1]")))
		must(b.make(t, ipam.Create, crd("BGPPeer", "tor", "peerIP: 192.0.2.1, asNumber: 64512")))
		must(b.make(t, ipam.Create, crd("BGPConfiguration", "default", "nodeToNodeMeshEnabled: false")))
		must(b.make(t, ipam.Create, crd("FelixConfiguration", "default", "vxlanMTU: 1410")))
		must(b.make(t, ipam.Create, crd("KubeControllersConfiguration", "default", "controllers: {node: {leakGracePeriod: 15m}}")))
		must(b.make(t, ipam.Create, crd("ClusterInformation", "default", "clusterType: k8s")))
		for _, k := range []string{"BGPPeer", "BGPConfiguration", "FelixConfiguration", "KubeControllersConfiguration", "ClusterInformation", "IPReservation"} {
			name := b.named(k)
			if e := b.do(ipam.Delete, k, name, ""); name == "" || e != "" || b.named(k) != "" {
				t.Errorf("%s: %q %s", k, name, e)
			}
		}
	})
}

// The IPAM configuration gets where the allocator reads it.
func TestKeeperOfSettings(t *testing.T) {
	s := startEtcd(t)
	open(t, s, store.Etcd, func(b *books) {
		say := func() string {
			p := b.observe().Networks[0].Blocks
			c, err := b.c.IPAM().GetIPAMConfig(context.Background())
			b.must(err)
			if c.StrictAffinity != p.Strict || c.AutoAllocateBlocks != p.AutoAllocate {
				t.Errorf("the allocator reads %+v, the record %+v", c, p)
			}
			return fmt.Sprint(c.StrictAffinity, c.AutoAllocateBlocks, c.MaxBlocksPerHost, p.MaxBlocks)
		}
		if got := b.named("IPAMConfig"); got != "" {
			t.Error(got)
		}
		b.must(b.make(t, ipam.Create, crd("IPAMConfig", "default", "strictAffinity: true, autoAllocateBlocks: true, maxBlocksPerHost: 3")))
		if got := say(); got != "true true 3 3" {
			t.Error(got)
		}
		if e := b.do(ipam.Merge, "IPAMConfig", "default", `{"spec":{"strictAffinity":false}}`); !strings.Contains(e, "MaxBlocksPerHost requires StrictAffinity to be enabled") {
			t.Error(e)
		}
		if e := b.do(ipam.JSON, "IPAMConfig", "default", `[{"op":"remove","path":"/spec/maxBlocksPerHost"},{"op":"replace","path":"/spec/strictAffinity","value":false}]`); e != "" || say() != "false true 0 20" {
			t.Error(e, say())
		}
		b.must(b.make(t, ipam.Apply, strings.Replace(crd("IPAMConfiguration", "default", "strictAffinity: true"), "crd.projectcalico.org/v1", "projectcalico.org/v3", 1)))
		if got := say(); got != "true true 0 20" || b.named("IPAMConfig") != "default" {
			t.Error(got)
		}
		if e := b.do(ipam.Delete, "IPAMConfig", "default", ""); e != "" || b.named("IPAMConfig") != "" {
			t.Error(e)
		}
	})
}

// The repair of seeds/000: the operator deletes a drained block and its affinity by the names that
// kubectl shows, and the allocator creates them again.
func TestKeeperOfBlocks(t *testing.T) {
	s := startEtcd(t)
	open(t, s, store.Etcd, func(b *books) {
		b.pool("default-ipv4-ippool", "10.64.75.0/26", 26)
		b.node("kubestage1001", nil)
		_, err := b.add("kubestage1001", "web-0")
		b.must(err)
		for kind, want := range map[string]string{"IPAMBlock": "10-64-75-0-26", "BlockAffinity": "kubestage1001-10-64-75-0-26", "IPAMHandle": "k8s-pod-network.c-web-0"} {
			if got := b.named(kind); got != want {
				t.Errorf("%s: %q", kind, got)
			}
		}
		if e := b.do(ipam.Merge, "BlockAffinity", "kubestage1001-10-64-75-0-26", `{"spec":{"state":"pendingDeletion"}}`); e != "" || b.observe().Affinities[0].State != "pendingDeletion" {
			t.Error(e, b.observe().Affinities)
		}
		for _, o := range [][2]string{{"IPAMBlock", "10-64-75-0-26"}, {"BlockAffinity", "kubestage1001-10-64-75-0-26"}, {"IPAMHandle", "k8s-pod-network.c-web-0"}} {
			if e := b.do(ipam.Delete, o[0], o[1], ""); e != "" {
				t.Error(e)
			}
			if e := b.do(ipam.Delete, o[0], o[1], ""); !strings.Contains(e, "resource does not exist: "+o[0]+"("+o[1]+")") {
				t.Error(e)
			}
		}
		if s := b.observe(); len(s.Pools)+len(s.Affinities)+len(s.Handles) != 0 {
			t.Errorf("%+v", s)
		}
		if _, err = b.add("kubestage1001", "web-1"); err != nil || b.named("IPAMBlock") != "10-64-75-0-26" {
			t.Error(err)
		}
		b.must(b.make(t, ipam.Create, crd("IPAMBlock", "fd00--40-122", "cidr: 'fd00::40/122', affinity: 'host:a', allocations: [0], unallocated: [], attributes: [{handle_id: h}], strictAffinity: false")))
		b.must(b.make(t, ipam.Create, crd("BlockAffinity", "a-1-fd00--40-122", "cidr: 'fd00::40/122', node: a-1, state: pending, deleted: 'false'")))
		b.must(b.make(t, ipam.Create, crd("IPAMHandle", "h", "handleID: H, block: {'fd00::40/122': 1}")))
		got := b.observe()
		if c := got.Claims[1]; c.Addr.String() != "fd00::40" || got.Affinities[1].Node != "a-1" || got.Handles[0].ID != "H" {
			t.Errorf("%+v", got)
		}
	})
}

// With the Kubernetes datastore the allocator's own objects are the API server's,
// and both spellings of a pool end up as the same custom resource.
func TestKeeperOfKubernetes(t *testing.T) {
	s := startEtcd(t)
	open(t, s, store.Kubernetes, func(b *books) {
		for _, k := range []string{"IPAMBlock", "BlockAffinity", "IPAMHandle", "IPAMConfig", "Pod"} {
			if b.inst.Keeps(k) {
				t.Errorf("%s is kept", k)
			}
		}
		spec := "cidr: 10.%d.0.0/16, blockSize: 26"
		b.must(b.make(t, ipam.Create, crd("IPPool", "one", fmt.Sprintf(spec, 1))))
		b.must(b.make(t, ipam.Create, strings.Replace(crd("IPPool", "three", fmt.Sprintf(spec, 3)), "crd.projectcalico.org/v1", "projectcalico.org/v3", 1)))
		all, err := b.env.API.List(context.Background(), "ippools")
		b.must(err)
		for _, o := range all {
			if u := o.(*unstructured.Unstructured); u.GetAPIVersion() != "crd.projectcalico.org/v1" {
				t.Error(u)
			}
		}
		if got := b.named("IPPool"); got != "one three" {
			t.Error(got)
		}
		if e := b.do(ipam.Merge, "IPPool", "three", `{"spec":{"disabled":true}}`); e != "" || !b.observe().Networks[0].Blocks.Pools[1].Disabled {
			t.Error(e)
		}
		b.must(b.make(t, ipam.Apply, crd("IPPool", "one", fmt.Sprintf(spec, 1)+", ipipMode: Always")))
		if p := b.observe().Networks[0].Blocks.Pools[0]; p.IPIP != "Always" {
			t.Errorf("%+v", p)
		}
		if e := b.do(ipam.JSON, "IPPool", "one", `[{"op":"replace","path":"/spec/blockSize","value":"x"}]`); !strings.Contains(e, "spec.blockSize") {
			t.Error(e)
		}
		if e := b.do(ipam.Delete, "IPPool", "one", ""); e != "" || b.named("IPPool") != "three" {
			t.Error(e)
		}
		b.must(b.make(t, ipam.Create, strings.Replace(crd("IPAMConfiguration", "default", "strictAffinity: true"), "crd.projectcalico.org/v1", "projectcalico.org/v3", 1)))
		b.must(b.inst.ChangeResource(context.Background(), nil, ipam.Create, manifests(t, crd("IPAMConfig", "another", "strictAffinity: false, autoAllocateBlocks: false"))[0]))
		if p := b.observe().Networks[0].Blocks; !p.Strict || !p.AutoAllocate {
			t.Errorf("%+v", p) // an object of another name has no effect
		}
		if e := b.do(ipam.Merge, "IPAMConfiguration", "default", `{"spec":{"maxBlocksPerHost":3}}`); e != "" || b.observe().Networks[0].Blocks.MaxBlocks != 3 {
			t.Error(e)
		}
		if e := b.do(ipam.Delete, "IPAMConfiguration", "default", ""); e != "" || b.observe().Networks[0].Blocks.Strict {
			t.Error(e)
		}
	})
}

// Two runs of the same changes leave the same bytes.
func TestKeeperRepeats(t *testing.T) {
	s := startEtcd(t)
	for _, ds := range datastores {
		var digests []string
		for range 2 {
			open(t, s, ds, func(b *books) {
				b.must(b.make(t, ipam.Create, strings.Replace(crd("IPPool", "p", "cidr: 10.0.0.0/16"), "crd.projectcalico.org/v1", "projectcalico.org/v3", 1)))
				b.must(b.make(t, ipam.Create, crd("BGPPeer", "tor", "peerIP: 192.0.2.1, asNumber: 64512")))
				d, err := b.env.Store.Digest()
				b.must(err)
				digests = append(digests, d)
			})
		}
		if len(slices.Compact(digests)) != 1 {
			t.Errorf("%s: %v", ds, digests)
		}
	}
}
