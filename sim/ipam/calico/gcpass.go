package calico

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"
	"unsafe"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	"github.com/projectcalico/calico/kube-controllers/pkg/config"
	"github.com/projectcalico/calico/kube-controllers/pkg/controllers/node"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	cerrors "github.com/projectcalico/calico/libcalico-go/lib/errors"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"ipamsim/sim"
	"ipamsim/sim/ipam/calico/store"
)

//go:linkname handleUpdate github.com/projectcalico/calico/kube-controllers/pkg/controllers/node.(*IPAMController).handleUpdate
func handleUpdate(*node.IPAMController, any)

//go:linkname fullScanNextSync github.com/projectcalico/calico/kube-controllers/pkg/controllers/node.(*IPAMController).fullScanNextSync
func fullScanNextSync(*node.IPAMController, string)

//go:linkname syncIPAM github.com/projectcalico/calico/kube-controllers/pkg/controllers/node.(*IPAMController).syncIPAM
func syncIPAM(*node.IPAMController) error

//go:linkname deleteStaleNodes github.com/projectcalico/calico/kube-controllers/pkg/controllers/node.(*nodeDeleter).deleteStaleNodes
func deleteStaleNodes(unsafe.Pointer) error

// passes are the memories of the controllers whose scans the passes are. A pass takes the first
// memory that no other pass uses, so two concurrent passes are two controllers, each with its
// own observations.
type passes struct {
	mu   sync.Mutex // never held while a message is parked
	free []*passMemory
	next int
}

// passMemory is the state of a controller between scans: since when it has considered an allocation
// as leaked and a block as empty. A pass that is killed or panics loses it, as a process would.
type passMemory struct {
	number      int
	controller  *node.IPAMController
	grace       *metav1.Duration
	pods, nodes cache.Indexer
	known       map[string]model.Key // objects that the controller has received, to report those that are gone
}

func (p *passes) take() *passMemory {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) > 0 {
		m := p.free[0]
		p.free = p.free[1:]
		return m
	}
	p.next++
	return &passMemory{number: p.next}
}

func (p *passes) giveBack(m *passMemory) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, _ := slices.BinarySearchFunc(p.free, m, func(a, b *passMemory) int { return cmp.Compare(a.number, b.number) })
	p.free = slices.Insert(p.free, i, m)
}

// ipamPass is one full scan: with etcdv3, Calico nodes without a Kubernetes node are deleted; then
// pods, nodes and blocks are read and upstream's syncIPAM is called once.
//
// A single pass cleans up after a deleted node: its allocations whose pods are gone too, its tunnel
// addresses and its affinities. A leaked address on an existing node, and a node's spare empty
// block, are only recorded by the first pass that sees them, and released by the first pass that
// still sees them more than leakGracePeriod later. A pass that is killed loses its records.
//
// Unlike the daemon, a pass only knows the pods and nodes at its beginning, receives no events
// while it runs, and does not retry: its error is that of syncIPAM.
func (i *instance) ipamPass(ctx context.Context, g *sim.Gate, p *passes) error {
	c, err := i.gcClients(g)
	if err != nil {
		return err
	}
	m := p.take()
	err = m.scan(ctx, c, i.env.Datastore)
	if ctx.Err() == nil {
		p.giveBack(m)
	}
	return err
}

func (m *passMemory) scan(ctx context.Context, c gcClients, datastore string) error {
	if err := m.prepare(ctx, c); err != nil {
		return err
	}
	if datastore == store.Etcd {
		if err := deleteNodesOnce(c); err != nil {
			return err
		}
	}
	if err := m.learnKubernetes(ctx, c.kube); err != nil {
		return err
	}
	if err := m.learnCalico(ctx, store.Backend(c.calico)); err != nil {
		return err
	}
	handleUpdate(m.controller, bapi.InSync)
	fullScanNextSync(m.controller, passName)
	return syncIPAM(m.controller)
}

// prepare gives the controller this process's clients. A changed configuration requires a new
// controller, as it restarts the real one.
func (m *passMemory) prepare(ctx context.Context, c gcClients) error {
	grace, err := leakGracePeriod(ctx, c.calico)
	if err != nil {
		return err
	}
	if m.controller == nil || !reflect.DeepEqual(grace, m.grace) {
		m.pods = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		m.nodes = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
		m.grace, m.known = grace, map[string]model.Key{}
		m.controller = newIPAMController(config.NodeControllerConfig{LeakGracePeriod: grace}, c.calico, c.kube, m.pods, m.nodes)
		return nil
	}
	hidden(m.controller, "client").Set(reflect.ValueOf(c.calico))
	hidden(m.controller, "clientset").Set(reflect.ValueOf(c.kube))
	return nil
}

// leakGracePeriod is the value in KubeControllersConfiguration, or upstream's default if the object
// does not exist. It is nil if the object has no settings of the node controller: then no
// allocation counts as leaked while its node exists.
//
// Source: kube-controllers/pkg/config/runconfig.go, mergeConfig;
// libcalico-go/lib/clientv3/kubecontrollersconfig.go, validateAndFillDefaults (v3.31.0).
func leakGracePeriod(ctx context.Context, c clientv3.Interface) (*metav1.Duration, error) {
	k, err := c.KubeControllersConfiguration().Get(ctx, "default", options.GetOptions{})
	if _, none := err.(cerrors.ErrorResourceDoesNotExist); none {
		k, err = defaultSettings(), nil
	}
	if err != nil || k.Spec.Controllers.Node == nil {
		return nil, err
	}
	if grace := k.Spec.Controllers.Node.LeakGracePeriod; grace != nil {
		return grace, nil
	}
	return &metav1.Duration{Duration: 15 * time.Minute}, nil // the value that the daemon's first Update fills in
}

func deleteNodesOnce(c gcClients) error {
	d := node.NewNodeDeletionController(c.calico, c.kube)
	defer close(hidden(d, "syncChan").Interface().(chan struct{})) // ends its goroutine
	return deleteStaleNodes(reflect.ValueOf(d).UnsafePointer())
}

func (m *passMemory) learnKubernetes(ctx context.Context, k kubernetes.Interface) error {
	pods, err := k.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("pods: %w", err)
	}
	nodes, err := k.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("nodes: %w", err)
	}
	var all []any
	for i := range pods.Items {
		p, err := remembered(&pods.Items[i])
		if err != nil {
			return err
		}
		all = append(all, p)
	}
	if err := m.pods.Replace(all, pods.ResourceVersion); err != nil {
		return err
	}
	all = nil
	for i := range nodes.Items {
		all = append(all, &nodes.Items[i])
	}
	return m.nodes.Replace(all, nodes.ResourceVersion)
}

// learnCalico sends the controller the updates that the data feed sends after a resync: all
// existing objects, and deletions of those that are gone.
func (m *passMemory) learnCalico(ctx context.Context, be bapi.Client) error {
	known := map[string]model.Key{}
	for _, l := range []model.ListInterface{
		model.ResourceListOptions{Kind: libapiv3.KindNode},
		model.ResourceListOptions{Kind: apiv3.KindClusterInformation},
		model.BlockListOptions{},
	} {
		kvs, err := be.List(ctx, l, "")
		if err != nil {
			return err
		}
		for _, kv := range kvs.KVPairs {
			known[kv.Key.String()] = kv.Key
			handleUpdate(m.controller, *kv)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.known)) {
		if _, there := known[name]; !there {
			handleUpdate(m.controller, model.KVPair{Key: m.known[name]})
		}
	}
	m.known = known
	return nil
}

// hidden is an unexported field of the struct that p points to.
func hidden(p any, field string) reflect.Value {
	f := reflect.ValueOf(p).Elem().FieldByName(field)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}
