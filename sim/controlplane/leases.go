package controlplane

import (
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	listers "k8s.io/client-go/listers/coordination/v1"
	"k8s.io/client-go/tools/cache"
)

// leases are the Leases of nodes as nodelifecycle's informer of them, which reads one at
// a time: that of a node whose kubelet can be heard was renewed at its last turn. As
// messages they would be half of all steps.
//
// Source: pkg/controller/nodelifecycle, tryUpdateNodeHealth (v1.34.1).
type leases struct {
	heard func(node string) bool

	mu      sync.Mutex
	renewed map[string]time.Time
}

// renewEvery is how often a kubelet renews its Lease.
//
// Source: pkg/kubelet, nodeLeaseRenewIntervalFraction of NodeLeaseDurationSeconds (v1.34.1).
const renewEvery = 10 * time.Second

func (l *leases) Informer() cache.SharedIndexInformer { return synced{} }

func (l *leases) Lister() listers.LeaseLister { return lister{l: l} }

type synced struct{ cache.SharedIndexInformer }

func (synced) HasSynced() bool { return true }

// lister is of every namespace: there are no others.
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
