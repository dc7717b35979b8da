package calico

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/model"

	"ipamsim/sim"
	"ipamsim/sim/etcd"
	"ipamsim/sim/ipam/calico/store"
)

// left are the numbers of addresses, blocks and handles in the record.
func (w *allocWorld) left() string {
	w.t.Helper()
	list := func(l model.ListInterface) []*model.KVPair {
		kvs, err := store.Backend(w.direct).List(w.ctx, l, "")
		w.must(err)
		return kvs.KVPairs
	}
	used, blocks := 0, list(model.BlockListOptions{})
	for _, kv := range blocks {
		b := kv.Value.(*model.AllocationBlock)
		used += len(b.Allocations) - len(b.Unallocated)
	}
	return fmt.Sprintf("%d/%d/%d", used, len(blocks), len(list(model.IPAMHandleListOptions{})))
}

// hurtPlugin runs an ADD and its DELs. One message of one of them is lost on its way to the
// datastore, or its answer is lost. Another pod has an address all the time. ok is false if that
// message cannot have this fault.
func hurtPlugin(t *testing.T, server *etcd.Server, ds string, id sim.ActorID, message int, o sim.Outcome) (tale string, ok bool) {
	f := newFated(t, 1, 1, o, fmt.Sprintf("%s#%d ", id, message))
	f.armed.Store(true)
	story(t, server, allocRun{datastore: ds, strategy: f, options: f.budget()}, func(w *allocWorld) {
		w.nodes("a")
		w.pool("p", "10.64.75.0/24")
		w.fill("a", 1)
		_, err := w.add("a", "web")
		claimed := w.left()
		if nothing := claimed == "1/1/1"; err != nil != nothing {
			tale = fmt.Sprintf("ADD says %v and leaves %s; ", err, claimed)
		} else if err == nil && claimed != "2/1/2" {
			tale = fmt.Sprintf("ADD leaves %s; ", claimed)
		}
		tries := 1
		for w.del("a", "web") != nil {
			tries++ // as a kubelet does
		}
		if after := w.left(); after != "1/1/1" {
			tale += fmt.Sprintf("DEL %d leaves %s", tries, after)
		}
	})
	return tale, f.times == 0
}

// Every message of an ADD and of a DEL is lost once, before it arrives or after it took effect,
// and the kubelet repeats a DEL until it succeeds. An address is never left behind, but there are
// other leftovers:
//
// If the answer to the write of a block is lost, the plugin reads the block again, and the pod
// holds a second address, which it does not know, until it is deleted.
//
// A handle counts an address that was not assigned, or that has been released, and is never
// deleted: calico #7839. No process looks for such handles.
//
// The numbers are addresses/blocks/handles.
func TestEveryMessageOfThePluginHurt(t *testing.T) {
	want := map[string][]string{
		store.Etcd: {
			"add Create handle lose-reply: DEL 1 leaves 1/1/2",
			"add Update block lose-reply: ADD leaves 3/1/2; DEL 1 leaves 1/1/2",
			"del Delete handle fail-before: DEL 1 leaves 1/1/2",
			"del Get handle fail-before: DEL 1 leaves 1/1/2",
			"del Update block lose-reply: DEL 2 leaves 1/1/2",
		},
		store.Kubernetes: { // a custom resource is marked for deletion before it is deleted
			"add POST handle lose-reply: DEL 1 leaves 1/1/2",
			"add PUT block lose-reply: ADD leaves 3/1/2; DEL 1 leaves 1/1/2",
			"del DELETE handle fail-before: DEL 1 leaves 1/1/2",
			"del GET handle fail-before: DEL 1 leaves 1/1/2",
			"del GET handle fail-before: DEL 1 leaves 1/1/2",
			"del PUT block lose-reply: DEL 2 leaves 1/1/2",
			"del PUT handle fail-before: DEL 1 leaves 1/1/2",
			"del PUT handle lose-reply: DEL 1 leaves 1/1/2",
		},
	}
	server := startEtcd(t)
	for _, ds := range datastores {
		tr, _ := story(t, server, allocRun{datastore: ds}, func(w *allocWorld) {
			w.nodes("a")
			w.pool("p", "10.64.75.0/24")
			w.fill("a", 1)
			_, err := w.add("a", "web")
			w.must(err)
			w.must(w.del("a", "web"))
		})
		var found []string
		hurt := 0
		for _, id := range []sim.ActorID{"add/web", "del/web"} {
			for n, key := range said(tr, id) {
				for _, o := range []sim.Outcome{sim.FailBefore, sim.LoseReply} {
					tale, ok := hurtPlugin(t, server, ds, id, n+1, o)
					if ok {
						hurt++
					}
					if tale != "" {
						found = append(found, fmt.Sprintf("%s %s %s: %s", id[:3], inWords(key), o, tale))
					}
				}
			}
		}
		slices.Sort(found)
		if d := cmp.Diff(want[ds], found); d != "" || hurt < 30 {
			t.Errorf("%s, %d times hurt (-want +got):\n%s", ds, hurt, d)
		}
	}
}

// inWords is the verb of a message and the kind of object in the allocator's words.
func inWords(key string) string {
	verb, path, _ := strings.Cut(key, " ")
	for part, kind := range map[string]string{
		"/handle/": "handle", "ipamhandles/": "handle", "/assignment/": "block", "ipamblocks/": "block",
	} {
		if strings.Contains(path, part) {
			return verb + " " + kind
		}
	}
	return key
}
