package action

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/sim/cluster"
)

// NoSpace is an etcd whose database is full: it refuses every write of every client, of an API
// server or of Calico on etcdv3, with "etcdserver: mvcc: database space exceeded". Reads and
// deletions continue, but an API server marks a pod before it deletes it.
type NoSpace struct {
	For metav1.Duration `json:"for" jsonschema:"required"` // for how long
}

// Do raises the alarm and, later, disarms it.
func (a *NoSpace) Do(ctx context.Context, o *cluster.Operator) error {
	o.Cluster.NoSpace(true)
	return lasts(ctx, o, a, a.For, func() { o.Cluster.NoSpace(false) })
}

func (a *NoSpace) String() string { return "etcd has no space left" }

var noSpace = define(Kind{
	Name: "noSpace", Class: model.InjectedFault, Stops: model.StopsDatastore,
	Doc: "The database of etcd is full: every write is refused.",
}, func(c Checker, a *NoSpace) { c.Bad(a.For.Duration <= 0, Part{"for"}, "missing: for how long, e.g. 1m") })
