package calico

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	upstream "github.com/projectcalico/calico/libcalico-go/lib/ipam"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"pgregory.net/rapid"

	"ipamsim/model"
	"ipamsim/model/reference/calico"
	"ipamsim/sim"
	"ipamsim/sim/etcd"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/record"
	"ipamsim/sim/ipam/calico/store"
	"ipamsim/sim/strategy"
)

// TestConformance compares the reference with the real code: under any sequence of actions of pods,
// nodes, garbage collector and operators, both assign the same addresses or refuse for the same
// reason, and have the same record after each step. A difference is an error of the reference, or
// new behaviour of upstream. A failure is printed as the history that leads to it, shrunk by rapid.
//
// One history in twelve is on the Kubernetes datastore, one in ten on etcd itself, which takes
// twice as long as the fast store.
func TestConformance(t *testing.T) { conform(t, allStarts) }

// TestConformanceIPv6 is the same where there is always a pool of IPv6, mostly beside one
// of IPv4.
func TestConformanceIPv6(t *testing.T) {
	conform(t, slices.DeleteFunc(slices.Clone(allStarts), func(pools []int) bool {
		return !slices.ContainsFunc(pools, func(i int) bool { return somePools[i].Prefix.Addr().Is6() })
	}))
}

// conform draws the pools that are there at first from these.
func conform(t *testing.T, starts [][]int) {
	New() // outside of bubbles
	server := etcd.New("")
	t.Cleanup(func() { _ = server.Close() })
	rapid.Check(t, func(rt *rapid.T) {
		datastore := rapid.SampledFrom(append(slices.Repeat([]string{store.Etcd}, 11), store.Kubernetes)).Draw(rt, "datastore")
		store := func() (*etcd.Run, error) { return server.BeginMemory(), nil }
		if rarely(rt, "on etcd itself", 10) {
			store = server.Begin
		}
		world := rapid.Custom(func(t *rapid.T) start { return drawStart(t, starts) }).Draw(rt, "cluster")
		history := world.steps
		for i := range 5 { // rapid generates lists of about six steps and shrinks each
			history = append(history, rapid.SliceOfN(rapid.Custom(drawStep), 0, 20).Draw(rt, fmt.Sprintf("part %d", i+1))...)
		}
		compareHistory(rt, store, datastore, history)
	})
}

// step is one operation: done to both sides, which have to answer alike.
type step struct {
	what string
	do   func(*pair) error
}

func (s step) String() string { return s.what }

// GoString keeps rapid's own report readable.
func (s step) GoString() string { return s.what }

// compareHistory plays a history and fails with its first steps.
func compareHistory(rt *rapid.T, store func() (*etcd.Run, error), datastore string, history []step) {
	var difference string
	err := bothSides(store, datastore, func(p *pair) {
		for i, s := range history {
			err := s.do(p)
			if err == nil {
				err = p.compare()
			}
			if err == nil && i == len(history)-1 {
				err = p.compareBlocks()
			}
			if err != nil {
				difference = fmt.Sprintf("%s, %d steps:\n%s%v", datastore, i+1, listed(history[:i+1]), err)
				return
			}
		}
	})
	if err != nil {
		rt.Fatal(err)
	}
	if difference != "" {
		rt.Fatal(difference)
	}
}

func listed(history []step) string {
	var out strings.Builder
	for i, s := range history {
		fmt.Fprintf(&out, "%3d  %s\n", i+1, s)
	}
	return out.String()
}

// pair is the real Calico beside the reference, and the cluster that both serve.
type pair struct {
	ctx    context.Context
	run    *etcd.Run
	world  *sim.World
	real   *instance
	passes *passes
	books  // what operators and kubelets use, past every gate
	ref    *calico.Allocator
	gc     *calico.Collector // nil before the first pass

	grace, gcGrace time.Duration // the configured value, and that of gc

	pods    map[string]*podState
	changed []model.PodRef // since the last pass
	asked   int
	count   int
}

// podState is the present or last state of a pod in the API server.
type podState struct {
	ref       model.PodRef
	node      string
	container string
	fixed     []netip.Addr // the annotation
	got       []netip.Addr // result of the last successful ADD
	exists    bool
	finished  bool
	reported  []netip.Addr
	born      int
}

// bothSides runs story in its own bubble.
func bothSides(store func() (*etcd.Run, error), datastore string, story func(*pair)) error {
	run, err := store()
	if err != nil {
		return err
	}
	defer run.End()
	st := strategy.NewSerial()
	st.Begin(0)
	var crash error
	_, err = sim.Run(context.Background(), sim.Options{Strategy: st}, func(w *sim.World) error {
		w.Hooks.Panic = func(id sim.ActorID, v any, stack string) { crash = fmt.Errorf("%s panicked: %v\n%s", id, v, stack) }
		p := &pair{run: run, world: w, passes: &passes{}, pods: map[string]*podState{}}
		if err := p.open(datastore); err != nil {
			return err
		}
		w.Spawn(sim.Process{ID: "story", Run: func(ctx context.Context, _ *sim.Gate) error {
			defer w.Finish()
			p.ctx = ctx
			story(p)
			return nil
		}})
		return nil
	})
	return cmp.Or(err, crash)
}

func (p *pair) open(datastore string) error {
	api, err := ipam.Serve(p.world, p.run, New())
	if err != nil {
		return err
	}
	p.env = ipam.Env{API: api, Store: p.run, Datastore: datastore}
	ds, err := store.Open(p.env)
	if err != nil {
		return err
	}
	if p.real, err = newInstance(p.env, ds); err != nil {
		return err
	}
	p.inst = p.real
	if p.c, err = ds.Client(nil, 0); err != nil {
		return err
	}
	var cs kubernetes.Interface
	if cs, err = store.KubeClient(api, nil); err != nil {
		return err
	}
	p.kube = cs
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: namespaceLabels}}
	if _, err := cs.CoreV1().Namespaces().Create(context.Background(), namespace, metav1.CreateOptions{}); err != nil {
		return err
	}
	p.ref = calico.New(map[string]calico.Datastore{store.Etcd: calico.Etcd, store.Kubernetes: calico.Kubernetes}[datastore])
	p.ref.Nondeterminism = p
	p.grace = defaultGrace
	return nil
}

// same compares two answers: addresses, or the reason of a refusal.
func (p *pair) same(got []netip.Addr, gotErr error, want []netip.Addr, wantErr error) error {
	if errors.Is(wantErr, calico.ErrNotModelled) {
		return fmt.Errorf("the reference does not know: %w", wantErr)
	}
	if (gotErr == nil) != (wantErr == nil) || gotErr != nil && !errors.Is(wantErr, reason(gotErr)) {
		return fmt.Errorf("upstream says %v %v, the reference %v %v", got, gotErr, want, wantErr)
	}
	if gotErr == nil && !slices.Equal(got, want) {
		return fmt.Errorf("upstream hands out %v, the reference %v", got, want)
	}
	return nil
}

// reason is the reference's error for an error of upstream. Most of upstream's errors differ only
// in their text.
func reason(err error) error {
	for _, c := range []struct {
		text string
		is   error
	}{
		{upstream.ErrBlockLimit.Error(), calico.ErrBlockLimit},
		{"failed to find or claim a block", calico.ErrNoNewBlocks},
		{"resource does not exist: Node(", calico.ErrNoNode},
		{"out of 1 requested", calico.ErrExhausted},
		{upstream.ErrNoQualifiedPool.Error(), calico.ErrNoPool},
		{"no configured Calico pools", calico.ErrNoPool},
		{"does not exist, or is not enabled", calico.ErrNoPool},
		{"not in a configured pool", calico.ErrNoPool},
		{"resource already exists: IPPool", calico.ErrExists},
		{"resource already exists: ", calico.ErrTaken},
		{"affinity does not match", calico.ErrNotAffine},
		{"with no affinity", calico.ErrNotAffine},
		{"overlaps with IPPool", calico.ErrConflict},
		{"conflicts with existing allocations", calico.ErrConflict},
		{"resource does not exist", calico.ErrNotFound},
		{"update conflict", calico.ErrOutOfDate},
		{"is not empty", calico.ErrNotEmpty},
	} {
		if strings.Contains(err.Error(), c.text) {
			return c.is
		}
	}
	return err
}

// compare holds the records against each other.
func (p *pair) compare() error {
	p.run.Pump()
	if p.real.failed != nil {
		return p.real.failed
	}
	got, err := p.real.Observe(context.Background())
	if err != nil {
		return err
	}
	want := p.ref.Snapshot()
	claims := slices.Clone(got.Claims)
	for i := range claims {
		claims[i].Revision = 0
	}
	equal := slices.Equal(got.Pools, want.Pools) && slices.Equal(claims, want.Claims) && slices.Equal(got.Affinities, want.Affinities) &&
		slices.EqualFunc(got.Handles, want.Handles, func(x, y model.Handle) bool { return x.ID == y.ID && slices.Equal(x.Counts, y.Counts) })
	if equal {
		return nil
	}
	got.Claims, got.Networks = claims, nil
	return fmt.Errorf("the records differ, - upstream, + reference:\n%s", lineDiff(text(got), text(want)))
}

// lineDiff are the lines that only one of two texts has.
func lineDiff(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	var out strings.Builder
	for _, l := range a {
		if !slices.Contains(b, l) {
			fmt.Fprintf(&out, "- %s\n", l)
		}
	}
	for _, l := range b {
		if !slices.Contains(a, l) {
			fmt.Fprintf(&out, "+ %s\n", l)
		}
	}
	return out.String()
}

// waiting are the free addresses of upstream's blocks, in the order in which they will be assigned.
func (p *pair) waiting() (map[netip.Prefix][]netip.Addr, error) {
	l, err := store.Backend(p.c).List(context.Background(), bmodel.BlockListOptions{}, "")
	if err != nil {
		return nil, err
	}
	out := map[netip.Prefix][]netip.Addr{}
	for _, kv := range l.KVPairs {
		b := kv.Value.(*bmodel.AllocationBlock)
		at, _ := record.Prefix(b.CIDR)
		out[at] = []netip.Addr{}
		for _, o := range b.Unallocated {
			out[at] = append(out[at], record.Nth(at, o))
		}
	}
	return out, nil
}

// compareBlocks holds the free lists of all blocks against each other.
func (p *pair) compareBlocks() error {
	got, err := p.waiting()
	if err != nil {
		return err
	}
	for at, free := range got {
		if want := p.ref.Waiting(at); !slices.Equal(free, want) {
			return fmt.Errorf("free in %s, in order: upstream's %v, the reference's %v", at, free, want)
		}
	}
	return nil
}

// Left are the present counts of a handle.
func (p *pair) Left(handle string) ([]model.HandleCount, bool) {
	p.run.Pump()
	s, err := p.real.Observe(context.Background())
	i := slices.IndexFunc(s.Handles, func(h model.Handle) bool { return h.ID == handle })
	if err != nil || i < 0 {
		return nil, false
	}
	return s.Handles[i].Counts, true
}

// Order sorts results that upstream processes in the order of a Go map by the order that it has
// used: addresses by their place in the free list now, before those that are still claimed, and
// deleted spare blocks before existing ones.
func (p *pair) Order(all []netip.Prefix) {
	waiting, err := p.waiting()
	if err != nil {
		return // the following comparison fails then
	}
	place := func(x netip.Prefix) int {
		if !x.IsSingleIP() {
			_, there := waiting[x]
			return map[bool]int{true: 1}[there]
		}
		last := 0 // its block is gone
		for at, free := range waiting {
			if i := slices.Index(free, x.Addr()); i >= 0 {
				return i
			}
			if at.Contains(x.Addr()) {
				last = math.MaxInt
			}
		}
		return last
	}
	slices.SortStableFunc(all, func(x, y netip.Prefix) int { return cmp.Compare(place(x), place(y)) })
}

// Changed lists, for every second pass, the pods that something has happened to.
func (p *pair) Changed() ([]model.PodRef, bool) {
	some := p.changed
	p.changed = nil
	p.asked++
	return some, p.asked%2 == 0
}

// Pod is the state of a pod for the reference's collector.
func (p *pair) Pod(ref model.PodRef) (calico.Pod, bool) {
	s := p.pods[ref.Name]
	if s == nil || !s.exists {
		return calico.Pod{}, false
	}
	return calico.Pod{Node: s.node, Addrs: s.reported, Finished: s.finished}, true
}

func (s *podState) status() corev1.PodStatus {
	st := corev1.PodStatus{Phase: corev1.PodRunning}
	if s.finished {
		st.Phase = corev1.PodSucceeded
	}
	for i, a := range s.reported {
		if i == 0 {
			st.PodIP = a.String()
		}
		st.PodIPs = append(st.PodIPs, corev1.PodIP{IP: a.String()})
	}
	return st
}
