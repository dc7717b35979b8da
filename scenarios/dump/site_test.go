package dump_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/scenariotest"
)

type obj = map[string]any

// site is a cluster of Calico's as kubectl would dump it: blocks of eight addresses, and
// nodes that peer with their routers only, so that borrowed addresses are not reachable
// from the owner of their block.
type site struct {
	items  []obj
	blocks []*siteBlock
	dual   bool // nodes have an IPv6 address, too
}

type siteBlock struct {
	cidr  netip.Prefix
	owner string
	held  map[int]obj // attributes by ordinal
	kind  string      // of the owner; default host
}

func newSite() *site {
	s := &site{}
	s.crd("BGPConfiguration", "default", obj{"asNumber": 64601, "nodeToNodeMeshEnabled": false})
	s.crd("BGPPeer", "router", obj{"asNumber": 14907, "peerIP": "192.168.0.1"})
	s.pool("main", "10.0.0.0/28", nil)
	return s
}

func (s *site) crd(kind, name string, spec obj) {
	s.items = append(s.items, obj{"apiVersion": "crd.projectcalico.org/v1", "kind": kind, "metadata": obj{"name": name}, "spec": spec})
}

func (s *site) pool(name, cidr string, more obj) {
	spec := obj{"cidr": cidr, "blockSize": 29, "ipipMode": "Never", "vxlanMode": "Never", "nodeSelector": "all()"}
	for k, v := range more {
		spec[k] = v
	}
	s.crd("IPPool", name, spec)
}

func (s *site) node(name string, number int, labels, spec obj) {
	notes := obj{"projectcalico.org/IPv4Address": fmt.Sprintf("192.168.0.%d/24", 10+number)}
	if s.dual {
		notes["projectcalico.org/IPv6Address"] = fmt.Sprintf("fd00:192::%d/64", 10+number)
	}
	s.items = append(s.items, obj{
		"apiVersion": "v1", "kind": "Node",
		"metadata": obj{"name": name, "labels": labels, "annotations": notes},
		"spec":     spec, "status": obj{"conditions": []obj{{"type": "Ready", "status": "True"}}},
	})
}

func dashed(cidr string) string {
	return strings.NewReplacer(".", "-", "/", "-", ":", "-").Replace(cidr)
}

// block is owned, with an affinity if affine.
func (s *site) block(cidr, owner string, affine bool) {
	s.blocks = append(s.blocks, &siteBlock{cidr: netip.MustParsePrefix(cidr), owner: owner, held: map[int]obj{}})
	if affine {
		s.affinity(cidr, owner)
	}
}

func (s *site) affinity(cidr, owner string) {
	s.crd("BlockAffinity", owner+"-"+dashed(cidr), obj{"cidr": cidr, "node": owner, "state": "confirmed", "deleted": "false"})
}

// claim puts addresses into the record, with spaces between them.
func (s *site) claim(ips, id, node, pod string) {
	counts := obj{}
	for _, ip := range strings.Fields(ips) {
		a := netip.MustParseAddr(ip)
		for _, b := range s.blocks {
			if b.cidr.Contains(a) {
				at, first := a.As16(), b.cidr.Addr().As16()
				b.held[int(at[15]-first[15])] = obj{"handle_id": "k8s-pod-network." + id, "secondary": obj{"namespace": "shop", "node": node, "pod": pod, "timestamp": "2025"}}
				counts[b.cidr.String()] = 1
			}
		}
	}
	if len(counts) > 0 {
		s.crd("IPAMHandle", "k8s-pod-network."+id, obj{"handleID": "k8s-pod-network." + id, "block": counts})
	}
}

// pod runs in namespace shop, with addresses that have spaces between them; owner is
// KIND/NAME, "" for none. claimed: the record knows.
func (s *site) pod(name, node, ips, owner string, claimed bool, notes obj) {
	var all, podIPs = []string{}, []obj{}
	for _, ip := range strings.Fields(ips) {
		a := netip.MustParseAddr(ip)
		all, podIPs = append(all, netip.PrefixFrom(a, a.BitLen()).String()), append(podIPs, obj{"ip": ip})
	}
	annotations := obj{"cni.projectcalico.org/containerID": "c-" + name, "cni.projectcalico.org/podIP": all[0], "cni.projectcalico.org/podIPs": strings.Join(all, ",")}
	for k, v := range notes {
		annotations[k] = v
	}
	meta := obj{"name": name, "namespace": "shop", "annotations": annotations}
	if kind, of, ok := strings.Cut(owner, "/"); ok {
		meta["ownerReferences"] = []obj{{"apiVersion": "apps/v1", "kind": kind, "name": of, "controller": true, "uid": "4e4b4cb6-1f6b-4c0b-9d3f-" + fmt.Sprintf("%012d", len(s.items))}}
	}
	s.items = append(s.items, obj{
		"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": obj{"nodeName": node, "containers": []obj{{"name": "main", "image": "web:1"}}},
		"status": obj{"phase": "Running", "podIP": podIPs[0]["ip"], "podIPs": podIPs},
	})
	if claimed {
		s.claim(ips, "c-"+name, node, name)
	}
}

// list is what kubectl would print.
func (s *site) list(t *testing.T) []byte {
	t.Helper()
	items := slices.Clone(s.items)
	for _, b := range s.blocks {
		all, free, attributes := []any{}, []int{}, []obj{}
		for i := range 1 << (b.cidr.Addr().BitLen() - b.cidr.Bits()) {
			if a := b.held[i]; a != nil {
				all, attributes = append(all, len(attributes)), append(attributes, a)
			} else {
				all, free = append(all, nil), append(free, i)
			}
		}
		items = append(items, obj{"apiVersion": "crd.projectcalico.org/v1", "kind": "IPAMBlock", "metadata": obj{"name": dashed(b.cidr.String())}, "spec": obj{
			"cidr": b.cidr.String(), "affinity": cmp.Or(b.kind, "host") + ":" + b.owner, "allocations": all, "unallocated": free, "attributes": attributes, "deleted": false, "strictAffinity": false,
		}})
	}
	text, err := json.Marshal(obj{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// proven imports the site and simulates the remediations.
func (s *site) proven(t *testing.T) *diagnosis.Findings {
	t.Helper()
	c := s.cluster(t)
	_, parsed, _ := scenario(t, c, dump.Options{})
	return prove(t, c, parsed)
}

func (s *site) cluster(t *testing.T) *dump.Cluster {
	t.Helper()
	c := dump.New(managers.All())
	if err := c.Read("site", bytes.NewReader(s.list(t)), nil); err != nil {
		t.Fatal(err)
	}
	return whole(c)
}

// prove does what import does: it inspects the scenario and simulates the remediations.
func prove(t *testing.T, c *dump.Cluster, s *scenarios.Scenario) *diagnosis.Findings {
	t.Helper()
	return proveWithin(t, c, s, context.Background(), diagnosis.Bound{})
}

func proveWithin(t *testing.T, c *dump.Cluster, s *scenarios.Scenario, ctx context.Context, b diagnosis.Bound) *diagnosis.Findings {
	t.Helper()
	r := scenariotest.Runner(t)
	v, err := r.Inspect(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	c.Forget()
	f := diagnosis.Of(c, v, true)
	if err := f.Prove(ctx, r, s, v, b); err != nil {
		t.Fatal(err)
	}
	return f
}

// printed renders the findings as import prints them.
func printed(f *diagnosis.Findings) string {
	var b bytes.Buffer
	f.Write(&b)
	return b.String()
}

// says checks what people read, word by word.
func says(t *testing.T, f *diagnosis.Findings, want ...string) {
	t.Helper()
	text := printed(f)
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("it does not say %q:\n%s", w, text)
			return
		}
	}
}

func saysNot(t *testing.T, f *diagnosis.Findings, never ...string) {
	t.Helper()
	text := printed(f)
	for _, w := range never {
		if strings.Contains(text, w) {
			t.Errorf("it says %q:\n%s", w, text)
			return
		}
	}
}
