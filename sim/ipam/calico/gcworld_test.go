package calico

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	"github.com/projectcalico/calico/kube-controllers/pkg/config"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	cerrors "github.com/projectcalico/calico/libcalico-go/lib/errors"
	upstream "github.com/projectcalico/calico/libcalico-go/lib/ipam"
	cnet "github.com/projectcalico/calico/libcalico-go/lib/net"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"ipamsim/sim"
	"ipamsim/sim/etcd"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/record"
	"ipamsim/sim/ipam/calico/store"
	"ipamsim/sim/strategy"
)

// gcWorld is a run with the garbage collector over the real API server, the real datastore and the
// real etcd. Its story simulates everything else: nodes, CNI plugins, kubelets and the operator.
type gcWorld struct {
	*sim.World
	t      testing.TB
	in     *instance
	all    map[string]ipam.Run
	calico clientv3.Interface // through the story's own gate
	kube   kubernetes.Interface
	direct clientv3.Interface // through no gate
	digest string
	out    *sim.Outside
}

// outside runs f where the clock is the wall's.
func (w *gcWorld) outside(f func()) { w.out.Do(f) }

type gcRun struct {
	datastore string
	seed      uint64
	options   sim.Options
	strategy  sim.Strategy // default: timed
}

func (r gcRun) String() string { return fmt.Sprintf("%s seed %d", r.datastore, r.seed) }

// gcPlay runs a story and returns its trace and a digest of the store at the end.
func gcPlay(t testing.TB, r gcRun, story func(context.Context, *gcWorld)) (*sim.Trace, string) {
	t.Helper()
	adapter := New() // outside the bubble
	server := startEtcd(t)
	run, err := server.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer run.End()
	if r.strategy == nil {
		if r.strategy, err = strategy.Parse("timed", r.seed, strategy.Settings{}); err != nil {
			t.Fatal(err)
		}
	}
	r.strategy.Begin(0)
	r.options.Seed, r.options.Strategy = r.seed, r.strategy
	w := &gcWorld{t: t, out: sim.NewOutside(1)}
	defer w.out.Close()
	tr, err := sim.Run(context.Background(), r.options, func(sw *sim.World) error {
		w.World = sw
		return w.open(adapter, run, r.datastore, story)
	})
	if err != nil {
		t.Fatal(r, err)
	}
	return tr, w.digest
}

func (w *gcWorld) open(a *ipam.Manager, run *etcd.Run, datastore string, story func(context.Context, *gcWorld)) error {
	api, err := ipam.Serve(w.World, run, a)
	if err != nil {
		return err
	}
	env := ipam.Env{API: api, Store: run, Datastore: cmp.Or(datastore, store.Etcd)}
	ds, err := store.Open(env)
	if err != nil {
		return err
	}
	if w.in, err = newInstance(env, ds); err != nil {
		return err
	}
	w.all = w.in.run()
	w.Hooks.Panic = func(id sim.ActorID, v any, stack string) { w.t.Errorf("%s crashed: %v\n%s", id, v, stack) }
	if w.direct, err = ds.Client(nil, 0); err != nil {
		return err
	}
	w.Spawn(sim.Process{ID: "story", Run: func(ctx context.Context, g *sim.Gate) (err error) {
		defer w.Finish()
		if w.calico, err = ds.Client(g, gcQPS); err != nil {
			return err
		}
		if w.kube, err = store.KubeClient(api, g); err != nil {
			return err
		}
		story(ctx, w)
		w.digest, err = run.Digest()
		return err
	}})
	return nil
}

func (w *gcWorld) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Error(err)
	}
}

// start runs the daemon or a pass as a process of that name.
func (w *gcWorld) start(reconciler, process string) *sim.Actor {
	w.t.Helper()
	return w.Spawn(sim.Process{ID: sim.ActorID(process), Mortal: true, Run: w.reconciler(reconciler)})
}

func (w *gcWorld) reconciler(name string) func(context.Context, *sim.Gate) error {
	run := w.all[name].BuiltWith(ClientGo) // as in package cluster
	return func(ctx context.Context, g *sim.Gate) error { return run(ctx, g, "") }
}

// pass runs one full scan to its end.
func (w *gcWorld) pass(process string) {
	w.t.Helper()
	a := w.start(passName, process)
	<-a.Done()
	w.must(a.Err())
}

// cluster creates a pool, automatic blocks without strict affinity, and nodes. Blocks have 64
// addresses; in a small pool, a quarter of it.
func (w *gcWorld) cluster(cidr string, nodes ...string) {
	w.t.Helper()
	w.must(w.calico.EnsureInitialized(context.Background(), "v3.31.0", "k8s"))
	size := 0
	if p := netip.MustParsePrefix(cidr); p.Bits() > 24 {
		size = p.Bits() + 2
	}
	w.pool("default", cidr, size)
	w.must(w.calico.IPAM().SetIPAMConfig(context.Background(), upstream.IPAMConfig{AutoAllocateBlocks: true}))
	for _, n := range nodes {
		w.node(n)
	}
}

// pool is cut into blocks of that prefix length; 0 is upstream's default.
func (w *gcWorld) pool(name, cidr string, blockSize int) {
	w.t.Helper()
	p := apiv3.NewIPPool()
	p.Name = name
	p.Spec = apiv3.IPPoolSpec{CIDR: cidr, BlockSize: blockSize, NodeSelector: "all()", IPIPMode: apiv3.IPIPModeNever, VXLANMode: apiv3.VXLANModeNever}
	_, err := w.calico.IPPools().Create(context.Background(), p, options.SetOptions{})
	w.must(err)
}

// node adds a node. With etcdv3 the instance creates its Calico node (followNodes).
func (w *gcWorld) node(name string) {
	w.t.Helper()
	_, err := w.kube.CoreV1().Nodes().Create(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	w.must(err)
}

// handleOf is the CNI plugin's handle for a pod's sandbox.
func handleOf(pod string) string { return record.NetworkKey + ".sandbox-of-" + pod }

// add is a CNI ADD: one address of each family.
func (w *gcWorld) add(pod, node string, num4, num6 int) []string {
	w.t.Helper()
	h := handleOf(pod)
	v4, v6, err := w.calico.IPAM().AutoAssign(context.Background(), upstream.AutoAssignArgs{
		Num4: num4, Num6: num6, HandleID: &h, Hostname: node, IntendedUse: apiv3.IPPoolAllowedUseWorkload,
		Attrs: map[string]string{upstream.AttributeNode: node, upstream.AttributePod: pod, upstream.AttributeNamespace: "default"},
	})
	w.must(err)
	var out []string
	for _, a := range []*upstream.IPAMAssignments{v4, v6} {
		for i := 0; a != nil && i < len(a.IPs); i++ {
			out = append(out, a.IPs[i].IP.String())
		}
	}
	if len(out) != num4+num6 {
		w.t.Errorf("%s got %v", pod, out)
	}
	return out
}

// run is a pod's start: the object, CNI ADD, Running with its addresses.
func (w *gcWorld) run(pod, node string) string {
	w.t.Helper()
	w.create(pod, node)
	ips := w.add(pod, node, 1, 0)
	w.status(pod, corev1.PodRunning, ips...)
	return ips[0]
}

func (w *gcWorld) create(pod, node string) {
	w.t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: "default"}, Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	_, err := w.kube.CoreV1().Pods("default").Create(context.Background(), p, metav1.CreateOptions{})
	w.must(err)
}

func (w *gcWorld) status(pod string, phase corev1.PodPhase, ips ...string) {
	w.t.Helper()
	p, err := w.kube.CoreV1().Pods("default").Get(context.Background(), pod, metav1.GetOptions{})
	w.must(err)
	p.Status.Phase, p.Status.PodIP, p.Status.PodIPs = phase, "", nil
	for i, ip := range ips {
		if i == 0 {
			p.Status.PodIP = ip
		}
		p.Status.PodIPs = append(p.Status.PodIPs, corev1.PodIP{IP: ip})
	}
	_, err = w.kube.CoreV1().Pods("default").UpdateStatus(context.Background(), p, metav1.UpdateOptions{})
	w.must(err)
}

// stop is a pod's end: CNI DEL, then the object goes.
func (w *gcWorld) stop(pod string) {
	w.t.Helper()
	w.must(w.calico.IPAM().ReleaseByHandle(context.Background(), handleOf(pod)))
	w.vanish(pod)
}

// vanish removes a pod by force: its object goes, its address stays behind.
func (w *gcWorld) vanish(pod string) {
	w.t.Helper()
	now := int64(0)
	w.must(w.kube.CoreV1().Pods("default").Delete(context.Background(), pod, metav1.DeleteOptions{GracePeriodSeconds: &now}))
}

func (w *gcWorld) deleteNode(name string) {
	w.t.Helper()
	w.must(w.kube.CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{}))
}

// record describes the datastore: blocks in order, each with its owner and the number of its
// allocations, then the affinities, then the number of handles.
func (w *gcWorld) record() string {
	w.t.Helper()
	var blocks, affinities []string
	be := store.Backend(w.direct)
	list := func(l model.ListInterface) []*model.KVPair {
		kvs, err := be.List(context.Background(), l, "")
		w.must(err)
		return kvs.KVPairs
	}
	for _, kv := range list(model.BlockListOptions{}) {
		b := kv.Value.(*model.AllocationBlock)
		owner := "none"
		if b.Affinity != nil {
			owner = strings.TrimPrefix(*b.Affinity, "host:")
		}
		blocks = append(blocks, fmt.Sprintf("%s of %s holds %d", b.CIDR, owner, len(b.Allocations)-len(b.Unallocated)))
	}
	for _, kv := range list(model.BlockAffinityListOptions{}) {
		k := kv.Key.(model.BlockAffinityKey)
		affinities = append(affinities, fmt.Sprintf("%s:%s", k.Host, k.CIDR))
	}
	slices.Sort(blocks)
	slices.Sort(affinities)
	return fmt.Sprintf("%s | %s | %d handles", strings.Join(blocks, ", "), strings.Join(affinities, " "), len(list(model.IPAMHandleListOptions{})))
}

// allocations is how many addresses the record has given away.
func (w *gcWorld) allocations() (n int) {
	w.t.Helper()
	kvs, err := store.Backend(w.direct).List(context.Background(), model.BlockListOptions{}, "")
	w.must(err)
	for _, kv := range kvs.KVPairs {
		b := kv.Value.(*model.AllocationBlock)
		n += len(b.Allocations) - len(b.Unallocated)
	}
	return n
}

// when waits until done, at most for limit, and returns how long it took, to the
// second.
func (w *gcWorld) when(limit time.Duration, done func() bool) time.Duration {
	began := w.Now()
	for w.Now()-began < limit {
		if done() {
			return (w.Now() - began).Round(time.Second)
		}
		time.Sleep(time.Second)
	}
	return -1
}

// holds compares the record.
func (w *gcWorld) holds(want string) {
	w.t.Helper()
	if got := w.record(); got != want {
		w.t.Errorf("the record is\n%s\nand not\n%s", got, want)
	}
}

// blocks is how many blocks there are.
func (w *gcWorld) blocks() int {
	w.t.Helper()
	kvs, err := store.Backend(w.direct).List(context.Background(), model.BlockListOptions{}, "")
	w.must(err)
	return len(kvs.KVPairs)
}

// holder is the handle that an address is given to, or "".
func (w *gcWorld) holder(ip string) string {
	w.t.Helper()
	_, handle, err := w.direct.IPAM().GetAssignmentAttributes(context.Background(), cnet.MustParseIP(ip))
	if err != nil || handle == nil {
		return ""
	}
	return *handle
}

// calicoNodes are the names of the nodes that Calico knows.
func (w *gcWorld) calicoNodes() string {
	w.t.Helper()
	l, err := w.direct.Nodes().List(context.Background(), options.ListOptions{})
	w.must(err)
	var names []string
	for _, n := range l.Items {
		names = append(names, n.Name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// grace sets the grace period of the stored configuration, or stores one.
func (w *gcWorld) grace(d time.Duration) {
	w.t.Helper()
	ctx, c := context.Background(), w.calico.KubeControllersConfiguration()
	k, err := c.Get(ctx, "default", options.GetOptions{})
	if none := (cerrors.ErrorResourceDoesNotExist{}); errors.As(err, &none) {
		k, err = c.Create(ctx, config.NewDefaultKubeControllersConfig(), options.SetOptions{})
	}
	w.must(err)
	k.Spec.Controllers.Node.LeakGracePeriod = &metav1.Duration{Duration: d}
	_, err = c.Update(ctx, k, options.SetOptions{})
	w.must(err)
}
