package controlplane

import (
	"context"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	listers "k8s.io/client-go/listers/coordination/v1"
	"k8s.io/client-go/tools/cache"
)

// leases is nodelifecycle's informer of node Leases, which it reads one at a time: the Lease
// of a node with a reachable kubelet was renewed at its last turn. As messages they would be
// half of all steps.
//
// Source: pkg/controller/nodelifecycle, tryUpdateNodeHealth (v1.37.2).
type leases struct {
	heard func(node string) bool

	mu      sync.Mutex
	renewed map[string]time.Time
}

// renewEvery is how often a kubelet renews its Lease.
//
// Source: pkg/kubelet, nodeLeaseRenewIntervalFraction of NodeLeaseDurationSeconds (v1.37.2).
const renewEvery = 10 * time.Second

func (l *leases) Informer() cache.SharedIndexInformer { return synced{} }

func (l *leases) Lister() listers.LeaseLister { return lister{l: l} }

type synced struct{ cache.SharedIndexInformer }

func (synced) HasSynced() bool { return true }

func (synced) GetStore() cache.Store { return present{} }

// present is a store without lag, so it has no revision to wait for.
type present struct{ cache.Store }

func (present) LastStoreSyncResourceVersion() string { return "" }

// client is c, except for Leases, which it also reads from leases: nodelifecycle asks the
// server for the Lease of each unreachable node at every pass, in case its informer lags. This
// informer does not.
func (l *leases) client(c kubernetes.Interface) kubernetes.Interface { return leaseClient{c, l} }

type leaseClient struct {
	kubernetes.Interface
	l *leases
}

func (c leaseClient) CoordinationV1() coordinationclient.CoordinationV1Interface {
	return leaseGroup{c.Interface.CoordinationV1(), c.l}
}

type leaseGroup struct {
	coordinationclient.CoordinationV1Interface
	l *leases
}

func (c leaseGroup) Leases(ns string) coordinationclient.LeaseInterface {
	return leaseGetter{c.CoordinationV1Interface.Leases(ns), ofNamespace{l: c.l}}
}

type leaseGetter struct {
	coordinationclient.LeaseInterface
	of ofNamespace
}

func (g leaseGetter) Get(_ context.Context, node string, _ metav1.GetOptions) (*coordinationv1.Lease, error) {
	return g.of.Get(node)
}

// lister serves every namespace: all Leases are in one.
type lister struct {
	listers.LeaseListerExpansion
	l *leases
}

func (x lister) List(labels.Selector) ([]*coordinationv1.Lease, error) { return nil, nil }

func (x lister) Leases(string) listers.LeaseNamespaceLister { return ofNamespace{l: x.l} }

type ofNamespace struct {
	listers.LeaseNamespaceListerExpansion
	l *leases
}

func (x ofNamespace) List(labels.Selector) ([]*coordinationv1.Lease, error) { return nil, nil }

func (x ofNamespace) Get(node string) (*coordinationv1.Lease, error) {
	l := x.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.renewed == nil {
		l.renewed = map[string]time.Time{}
	}
	if l.heard(node) {
		l.renewed[node] = time.Now().Truncate(renewEvery)
	}
	at, ok := l.renewed[node]
	if !ok {
		return nil, apierrors.NewNotFound(coordinationv1.Resource("leases"), node)
	}
	renewed := metav1.NewMicroTime(at)
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: node, Namespace: "kube-node-lease"}, Spec: coordinationv1.LeaseSpec{RenewTime: &renewed},
	}, nil
}
