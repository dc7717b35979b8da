package calico

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	"github.com/projectcalico/calico/libcalico-go/lib/options"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/store"
)

// The messages of an execution of the plugin to the datastore and to Kubernetes, with etcdv3. The
// allocator's own part is 10 messages in the steady state: 8 and the reads of pools and
// reservations.
func TestMessagesOfAnADDAndADEL(t *testing.T) {
	tr, _ := story(t, startEtcd(t), allocRun{}, func(w *allocWorld) {
		w.nodes("a", "b")
		w.pool("p", "10.64.75.0/24")
		w.fill("a", 2)
		w.must(w.del("a", "a-0"))
		w.fill("b", 1)
	})
	const (
		objects = "/calico/resources/v3/projectcalico.org/"
		ipv4    = "/calico/ipam/v2/assignment/ipv4/block/10.64.75.192-26"
		owned   = "/calico/ipam/v2/host/a/ipv4/block"
		handles = "/calico/ipam/v2/handle/k8s-pod-network.sandbox-"
	)
	want := map[sim.ActorID][]string{
		"add/a-0": { // the first of its host: it claims a block
			"Get " + objects + "clusterinformations/default",
			"List " + objects + "workloadendpoints/default/a-k8s-a--0-",
			"GET namespaces/default", "GET pods/default/a-0", "GET namespaces/default",
			"List " + objects + "ipreservations", "Get " + objects + "nodes/a", "List " + objects + "ippools",
			"List " + owned,
			"Get /calico/ipam/v2/config", "Create /calico/ipam/v2/config", "Get /calico/ipam/v2/config",
			"List /calico/ipam/v2/assignment/",
			"Create " + owned + "/10.64.75.192-26", "Get " + ipv4, "Update " + owned + "/10.64.75.192-26",
			"Get /calico/ipam/v2/config",
			"Create " + ipv4, "Update " + owned + "/10.64.75.192-26",
			"Get " + handles + "a-0", "Create " + handles + "a-0", "Update " + ipv4,
			"Create " + objects + "workloadendpoints/default/a-k8s-a--0-eth0",
		},
		"add/a-1": { // the steady state
			"Get " + objects + "clusterinformations/default",
			"List " + objects + "workloadendpoints/default/a-k8s-a--1-",
			"GET namespaces/default", "GET pods/default/a-1", "GET namespaces/default",
			"List " + objects + "ipreservations", "Get " + objects + "nodes/a", "List " + objects + "ippools",
			"List " + owned, "Get /calico/ipam/v2/config",
			"Get " + owned + "/10.64.75.192-26", "Get " + ipv4,
			"Get " + handles + "a-1", "Create " + handles + "a-1", "Update " + ipv4,
			"Create " + objects + "workloadendpoints/default/a-k8s-a--1-eth0",
		},
		"del/a-0": {
			"Get " + objects + "clusterinformations/default",
			"Get " + objects + "workloadendpoints/default/a-k8s-a--0-eth0",
			"Delete " + objects + "workloadendpoints/default/a-k8s-a--0-eth0",
			"Get " + handles + "a-0", "Get " + ipv4, "Update " + ipv4, "Get " + handles + "a-0", "Delete " + handles + "a-0",
			"Get " + objects + "nodes/a", "List " + objects + "ippools",
			"Get /calico/ipam/v2/handle/default.a-0", // what Calico before v3 would have called it
		},
	}
	if n := len(allocator(said(tr, "add/b-0"))); n != 16 { // 14, pools and reservations
		t.Errorf("the first block of a host took the allocator %d messages", n)
	}
	for id, messages := range want {
		if d := cmp.Diff(messages, said(tr, id)); d != "" {
			t.Errorf("%s (-want +got):\n%s", id, d)
		}
	}
}

// The story of seeds/000 on both datastores: a pool of four blocks, two nodes that own two each,
// and a third that has to borrow. It always borrows the same address, because the first place that
// it tries is a hash of its name. After the last address upstream reports that none is left, which
// is ErrExhausted.
func TestThirdNodeBorrows(t *testing.T) {
	server := startEtcd(t)
	for _, ds := range datastores {
		t.Run(ds, func(t *testing.T) {
			tr, _ := story(t, server, allocRun{datastore: ds}, func(w *allocWorld) {
				w.nodes("node-a", "node-b", "node-c")
				w.pool("p", "10.64.75.0/24")
				w.fill("node-a", 100)
				w.fill("node-b", 100)
				if got := w.fill("node-c", 1); got != "10.64.75.228" {
					t.Errorf("the third node got %s, want 10.64.75.228", got)
				}
				for i := range 55 {
					if _, err := w.add("node-c", "late-"+strings.Repeat("i", i)+"x"); err != nil {
						t.Fatalf("pod %d after 201: %v", i, err)
					}
				}
				_, err := w.add("node-c", "one-too-many")
				if !errors.Is(err, ipam.ErrExhausted) || !strings.Contains(err.Error(), "No IPs available in pools: [10.64.75.0/24]") {
					t.Errorf("the 257th: %v", err)
				}
			})
			if ds == store.Etcd {
				if got := allocator(said(tr, "add/node-c-0")); len(got) != 13 { // 11, pools and reservations
					t.Errorf("borrowing took the allocator %d messages: %q", len(got), got)
				}
			}
		})
	}
}

// allocator are the messages of an ADD that AutoAssign sends: from the read of the reservations to
// the last message before the endpoint is stored.
func allocator(messages []string) []string {
	from := slices.IndexFunc(messages, func(k string) bool { return strings.HasSuffix(k, "ipreservations") })
	return messages[from : len(messages)-1]
}

// A panic of the CNI plugin is an error of the ADD or DEL, because upstream recovers it: the
// kubelet retries, and no process has crashed.
func TestPanicsThatUpstreamRecovers(t *testing.T) {
	server := startEtcd(t)
	for _, ds := range datastores {
		t.Run(ds, func(t *testing.T) {
			story(t, server, allocRun{datastore: ds}, func(w *allocWorld) { // it minds a crash
				w.nodes("a")
				w.pool("p", "10.64.75.0/24")
				w.fill("a", 1)
				ready := w.ready(nil)
				_, err := w.add("a", "late")
				del := w.del("a", "a-0")
				for verb, err := range map[string]error{"ADD": err, "DEL": del} {
					want := "Calico CNI panicked during " + verb + ": runtime error: invalid memory address or nil pointer dereference\nStack trace:\n"
					if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "cni/plugin.cmd") {
						t.Errorf("%s: %v", verb, err)
					} else if strings.Contains(err.Error(), "0x") || strings.Contains(err.Error(), ".go:") {
						t.Errorf("%s: the error is of this machine: %v", verb, err)
					}
				}
				w.ready(ready)
				if got, err := w.again("a", "late"); err != nil || got != "10.64.75.193" {
					t.Errorf("kubelet's next try: %s, %v", got, err)
				}
				w.must(w.del("a", "a-0"))
			})
		})
	}
}

// ready sets DatastoreReady and returns its old value; nil means that it is unset.
func (w *allocWorld) ready(now *bool) (was *bool) {
	w.t.Helper()
	c, err := w.direct.ClusterInformation().Get(w.ctx, "default", options.GetOptions{})
	w.must(err)
	was, c.Spec.DatastoreReady = c.Spec.DatastoreReady, now
	_, err = w.direct.ClusterInformation().Update(w.ctx, c, options.SetOptions{})
	w.must(err)
	return was
}

// A host is upgraded once, before its plugin first assigns a certain address: what
// Calico before v3.30 wrote is looked at.
func TestHostIsUpgradedOnce(t *testing.T) {
	tr, _ := story(t, startEtcd(t), allocRun{}, func(w *allocWorld) {
		w.nodes("a")
		w.pool("p", "10.64.75.0/24")
		for _, n := range []string{"5", "6"} {
			w.pod(ref("p"+n), map[string]string{"cni.projectcalico.org/ipAddrs": `["10.64.75.` + n + `"]`})
			if got, err := w.again("a", "p"+n); err != nil || got != "10.64.75."+n {
				t.Errorf("%s, %v", got, err)
			}
		}
	})
	first, second := said(tr, "add/p5"), said(tr, "add/p6")
	const upgrade = "List /calico/resources/v3/projectcalico.org/blockaffinities"
	if !slices.Contains(first, upgrade) || slices.Contains(second, upgrade) {
		t.Errorf("the first says\n%s\nthe second\n%s", strings.Join(first, "\n"), strings.Join(second, "\n"))
	}
}

// The installer's placeholder for the node's name is the node's name, by which the
// plugin goes before it looks into its file.
func TestNodeNameInTheConfiguration(t *testing.T) {
	story(t, startEtcd(t), allocRun{}, func(w *allocWorld) {
		w.config = []byte(strings.Replace(string(w.config), `{`, `{"nodename":"__KUBERNETES_NODE_NAME__",`, 1))
		w.nodes("a", "b")
		w.pool("p", "10.64.75.0/24")
		w.fill("a", 1)
		w.fill("b", 1)
		blocks, err := store.Backend(w.direct).List(w.ctx, model.BlockListOptions{}, "")
		w.must(err)
		var hosts []string
		for _, kv := range blocks.KVPairs {
			hosts = append(hosts, kv.Value.(*model.AllocationBlock).Host())
		}
		if slices.Sort(hosts); !slices.Equal(hosts, []string{"a", "b"}) {
			t.Errorf("blocks of %v", hosts)
		}
	})
}
