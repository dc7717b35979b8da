package calico

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	upstream "github.com/projectcalico/calico/libcalico-go/lib/ipam"
	cnet "github.com/projectcalico/calico/libcalico-go/lib/net"
	"k8s.io/client-go/rest"

	"ipamsim/sim/ipam/calico/store"
	"ipamsim/sim/longtest"
)

// hands is a cluster with the addresses as its pods know them, and an operator who deletes
// arbitrary objects.
type hands struct {
	console
	alive map[string]string // pod → address
}

// kubectlDelete deletes blocks and affinities without regard to revisions and Calico's marks:
// kubectl delete, or etcdctl del.
func (h *hands) kubectlDelete(keys ...model.Key) {
	h.t.Helper()
	for _, k := range keys {
		if h.in.env.Datastore != store.Kubernetes {
			h.remove(k)
			continue
		}
		path, name := "ipamblocks", ""
		switch k := k.(type) {
		case model.BlockKey:
			name = k.CIDR.String()
		case model.BlockAffinityKey:
			path, name = "blockaffinities", k.Host+"-"+k.CIDR.String()
		}
		c, err := store.KubeClient(h.in.env.API, nil)
		h.must(err)
		var r rest.Interface = c.CoreV1().RESTClient()
		name = strings.NewReplacer(".", "-", "/", "-").Replace(name)
		h.must(r.Delete().AbsPath("/apis/crd.projectcalico.org/v1", path, name).Do(context.Background()).Error())
	}
}

// erase deletes what may be gone already.
func (h *hands) erase(k model.Key) {
	h.t.Helper()
	if _, err := store.Backend(h.direct).Get(context.Background(), k, ""); err == nil {
		h.kubectlDelete(k)
	}
}

// add starts a pod, which uses the address that it gets.
func (h *hands) add(c upstream.Interface, pod, node string) string {
	h.t.Helper()
	ip, err := h.tryAssign(c, pod, node)
	if err != nil {
		return err.Error()
	}
	h.alive[pod] = ip
	return ip
}

// verdict is the error: "duplicate" for addresses of two pods, "lost" for addresses that are not
// held by their pod, "" for none; and its details.
func (h *hands) verdict() (kind, why string) {
	h.t.Helper()
	by := map[string][]string{}
	for pod, ip := range h.alive {
		by[ip] = append(by[ip], pod)
	}
	var bad []string
	for _, ip := range slices.Sorted(maps.Keys(by)) {
		pods := by[ip]
		slices.Sort(pods)
		if len(pods) > 1 {
			kind = "duplicate"
			bad = append(bad, fmt.Sprintf("%s of %s", ip, strings.Join(pods, " and ")))
		}
		for _, p := range pods {
			if got := h.holder(ip); got != handleOf(p) {
				if kind == "" {
					kind = "lost"
				}
				bad = append(bad, fmt.Sprintf("%s of %s is held by %q", ip, p, got))
			}
		}
	}
	return kind, strings.Join(bad, ", ")
}

// meddled is a datastore that runs a function just before a call.
type meddled struct {
	bapi.Client
	calls  []string
	before func(n int, call string)
}

func (m *meddled) call(verb string, path string) {
	m.calls = append(m.calls, verb+" "+path)
	m.before(len(m.calls), m.calls[len(m.calls)-1])
}

func (m *meddled) Create(ctx context.Context, o *model.KVPair) (*model.KVPair, error) {
	m.call("Create", store.Path(o.Key))
	return m.Client.Create(ctx, o)
}

func (m *meddled) Update(ctx context.Context, o *model.KVPair) (*model.KVPair, error) {
	m.call("Update", store.Path(o.Key))
	return m.Client.Update(ctx, o)
}

func (m *meddled) DeleteKVP(ctx context.Context, o *model.KVPair) (*model.KVPair, error) {
	m.call("Delete", store.Path(o.Key))
	return m.Client.DeleteKVP(ctx, o)
}

func (m *meddled) Get(ctx context.Context, k model.Key, rev string) (*model.KVPair, error) {
	m.call("Get", store.Path(k))
	return m.Client.Get(ctx, k, rev)
}

func (m *meddled) List(ctx context.Context, l model.ListInterface, rev string) (*model.KVPairList, error) {
	m.call("List", model.ListOptionsToDefaultPathRoot(l))
	return m.Client.List(ctx, l, rev)
}

// meddle is an allocator whose n-th call comes just after the operator's step.
func (h *hands) meddle(m *meddled) upstream.Interface {
	h.t.Helper()
	m.Client = store.Backend(h.direct)
	c, err := store.WithBackend(m)
	h.must(err)
	return c.IPAM()
}

// staging is a small version of seeds/000: n1 and n2 have two blocks each, which they once needed,
// and n3 has none. The only pod in n1's second block still runs, or is gone.
func (h *hands) staging(used bool) {
	h.t.Helper()
	h.alive = map[string]string{}
	h.must(h.direct.EnsureInitialized(context.Background(), store.Version, "k8s"))
	h.pool("default", "10.64.75.0/28", 30)
	for _, n := range []string{"n1", "n2", "n3"} {
		h.node(n)
	}
	time.Sleep(time.Second)
	for _, n := range []string{"n1", "n2"} {
		for i := range 5 {
			h.add(h.direct.IPAM(), fmt.Sprintf("%s-%d", n, i), n)
		}
	}
	if !used {
		h.unassign("n1-4")
		delete(h.alive, "n1-4")
	}
}

// The repair of seeds/000, at every moment of an allocator's work: the operator
// deletes just before its first, its second, ... its last call, and just after
// it. Then pods start until the pool is full, and the pods' view is compared with
// the datastore's.
//
// An empty block may be deleted at any moment of an allocation: its last call
// writes the block at a revision, and is refused. The moment too early is after
// it, when the operator has seen an empty block and deletes a used one: all its
// addresses are forgotten, and handed out again from the first one on. Deleting an
// affinity alone does no harm.
func TestRepairAtEveryMoment(t *testing.T) {
	longtest.Skip(t)
	for _, c := range []struct {
		used          bool
		deletes, who  string
		during, after string
	}{
		{false, "block affinity", "n1", "", "duplicate"},
		{false, "block affinity", "n3", "", ""},
		{false, "affinity block", "n1", "", "duplicate"},
		{false, "affinity block", "n3", "", ""},
		{false, "block", "n1", "", "duplicate"},
		{false, "affinity", "n1", "", ""},
		{false, "affinity", "n3", "", ""},
		{true, "block affinity", "n1", "duplicate", "duplicate"},
		{true, "block affinity", "n3", "duplicate", "duplicate"},
		{true, "affinity block", "n1", "duplicate", "duplicate"},
		{true, "block", "n3", "duplicate", "duplicate"},
		{true, "affinity", "n1", "", ""},
		{true, "affinity", "n3", "", ""},
	} {
		stores := datastores
		if testing.Short() || c.who != "n1" || c.deletes != "block affinity" {
			stores = stores[:1] // the other one is slow, and no different
		}
		for _, ds := range stores {
			calls := 1
			for at := 1; at <= calls+1; at++ {
				t.Run(fmt.Sprintf("used %t, delete %s, add on %s, before call %d, %s", c.used, c.deletes, c.who, at, ds), func(t *testing.T) {
					consolePlay(t, gcRun{datastore: ds}, func(_ context.Context, w console) {
						h := &hands{console: w}
						h.staging(c.used)
						m := &meddled{before: func(n int, _ string) {
							if n == at {
								h.kubectlDelete(keysOf(c.deletes)...)
							}
						}}
						if got := h.add(h.meddle(m), "new", c.who); !strings.HasPrefix(got, "10.64.75.") {
							t.Error("the allocator gave up: ", got)
						}
						want := c.during
						if at > len(m.calls) {
							want = c.after
							h.kubectlDelete(keysOf(c.deletes)...)
						} else {
							calls = len(m.calls)
						}
						for i := range 6 {
							h.add(h.direct.IPAM(), fmt.Sprint("later-", i), []string{"n3", "n1"}[i%2])
						}
						if kind, v := h.verdict(); kind != want {
							t.Errorf("%q, want %q: %s", kind, want, v)
						}
					})
				})
			}
		}
	}
}

// keysOf are the objects of n1's second block.
func keysOf(names string) (keys []model.Key) {
	cidr := cnet.MustParseCIDR("10.64.75.12/30")
	for _, name := range strings.Fields(names) {
		switch name {
		case "block":
			keys = append(keys, model.BlockKey{CIDR: cidr})
		case "affinity":
			keys = append(keys, model.BlockAffinityKey{AffinityType: "host", Host: "n1", CIDR: cidr})
		}
	}
	return keys
}

// The operator's two commands, with calls of an allocator in between: an empty block is safe to
// delete at any point. If the affinity is deleted first, the allocator may fail because the block
// was deleted while it was claiming it again; the next attempt of its pod succeeds.
func TestRepairInTwoSteps(t *testing.T) {
	const givesUp = "resource does not exist: BlockKey(cidr=10.64.75.12/30) with error: <nil>"
	for order, wantGivesUp := range map[string]int{"block affinity": 0, "affinity block": 12} {
		keys, gaveUp := keysOf(order), 0
		for first := 1; first <= 10; first++ {
			t.Run(fmt.Sprintf("%s, first before call %d", order, first), func(t *testing.T) {
				for second := first + 1; second <= 16; second++ {
					consolePlay(t, gcRun{}, func(_ context.Context, w console) {
						h := &hands{console: w}
						h.staging(false)
						got := h.add(h.meddle(&meddled{before: func(n int, _ string) {
							switch n {
							case first:
								h.kubectlDelete(keys[0])
							case second:
								h.erase(keys[1]) // the allocator may have done so
							}
						}}), "new", "n1")
						if got == givesUp {
							gaveUp++
							got = h.add(h.direct.IPAM(), "new", "n1")
						}
						for i := range 6 {
							h.add(h.direct.IPAM(), fmt.Sprint("later-", i), []string{"n3", "n1"}[i%2])
						}
						if kind, v := h.verdict(); kind != "" || !strings.HasPrefix(got, "10.64.75.") {
							t.Errorf("second before call %d: %s: %q %s", second, got, kind, v)
						}
					})
				}
			})
		}
		if gaveUp != wantGivesUp {
			t.Errorf("%s: the allocator gave up %d times, want %d", order, gaveUp, wantGivesUp)
		}
	}
}

// The CNI DEL of a pod whose address was lost and assigned again does not release the address of
// the second pod. It succeeds, and leaves its handle behind forever.
func TestDelAfterTheBlockWasDeleted(t *testing.T) {
	for _, ds := range datastores {
		consolePlay(t, gcRun{datastore: ds}, func(_ context.Context, w console) {
			h := &hands{console: w}
			h.staging(true)
			h.kubectlDelete(keysOf("block affinity")...)
			if got := h.add(h.direct.IPAM(), "new", "n1"); got != h.alive["n1-4"] {
				t.Errorf("%s: new has %s, want %s as n1-4 has", ds, got, h.alive["n1-4"])
			}
			h.unassign("n1-4")
			delete(h.alive, "n1-4")
			if kind, v := h.verdict(); kind != "" {
				t.Error(ds, kind, v)
			}
			h.holds("10.64.75.0/30 of n2 holds 1, 10.64.75.12/30 of n1 holds 1, 10.64.75.4/30 of n2 holds 4, 10.64.75.8/30 of n1 holds 4 | " +
				"n1:10.64.75.12/30 n1:10.64.75.8/30 n2:10.64.75.0/30 n2:10.64.75.4/30 | 11 handles") // of 10 addresses
		})
	}
}

// W4 as it was done: the second block of kubestage1001 is freed, the operator
// looks twice, deletes block and affinity, and pods re-create it.
func TestRepairOfTheReport(t *testing.T) {
	for _, ds := range datastores {
		consolePlay(t, gcRun{datastore: ds}, func(_ context.Context, w console) {
			h := &hands{console: w, alive: map[string]string{}}
			h.wikimedia()
			h.unassign("kubestage1001-64")
			h.unassign("kubestage1003-0")
			h.expect("calicoctl ipam show --show-blocks", "| Block    | 10.64.75.64/26  |        64 | 0 (0%)     | 64 (100%) |")
			if got := h.command("calicoctl ipam show --show-borrowed"); strings.Contains(got, "10.64.75") {
				t.Error(ds, got)
			}
			cidr := cnet.MustParseCIDR("10.64.75.64/26")
			h.kubectlDelete(model.BlockKey{CIDR: cidr}, model.BlockAffinityKey{AffinityType: "host", Host: "kubestage1001", CIDR: cidr})
			for i := range 20 {
				h.add(h.direct.IPAM(), fmt.Sprint("again-", i), "kubestage1001")
			}
			h.holds("10.64.75.0/26 of kubestage1001 holds 64, 10.64.75.128/26 of kubestage1002 holds 45, 10.64.75.192/26 of kubestage1002 holds 1, 10.64.75.64/26 of kubestage1001 holds 1 | " +
				"kubestage1001:10.64.75.0/26 kubestage1001:10.64.75.64/26 kubestage1002:10.64.75.128/26 kubestage1002:10.64.75.192/26 | 111 handles")
		})
	}
}
