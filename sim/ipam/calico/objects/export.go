package objects

import (
	"context"
	"fmt"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
	"k8s.io/apimachinery/pkg/util/json"

	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/store"
)

// Export returns Calico's objects in etcd: those that calicoctl get prints, including nodes and
// endpoints, and blocks, affinities, handles and settings in the format of the Kubernetes
// datastore, as a migration to it writes them (calicoctl datastore migrate). With the Kubernetes
// datastore it returns nothing.
func (kp Keeper) Export(ctx context.Context) ([]ipam.Object, error) {
	if kp.env.Datastore == store.Kubernetes {
		return nil, nil
	}
	c, err := kp.ds.Client(nil, 0)
	if err != nil {
		return nil, err
	}
	var all []object
	for _, k := range Kinds {
		if k.Name == apiv3.KindIPAMConfiguration {
			continue // the other name of IPAMConfig
		}
		some, err := exportKind(ctx, c, k.Kind)
		if err != nil {
			return nil, fmt.Errorf("calico: export %s: %w", k.Name, err)
		}
		all = append(all, some...)
	}
	nodes, err := c.Nodes().List(ctx, options.ListOptions{})
	if err != nil {
		return nil, err
	}
	for n := range nodes.Items {
		all = append(all, &nodes.Items[n])
	}
	weps, err := c.WorkloadEndpoints().List(ctx, options.ListOptions{})
	if err != nil {
		return nil, err
	}
	for w := range weps.Items {
		all = append(all, &weps.Items[w])
	}
	return printed(all)
}

// exportKind lists the objects of a kind.
func exportKind(ctx context.Context, c clientv3.Interface, k Kind) ([]object, error) {
	var out []object
	switch k := k.(type) {
	case settings:
		names, err := k.names(ctx, c)
		if err != nil || len(names) == 0 {
			return nil, err
		}
		var now object
		keep := fmt.Errorf("only looking")
		err = k.update(ctx, c, names[0], func(o object) (object, error) { now = o; return nil, keep })
		if now == nil {
			return nil, err
		}
		return []object{now}, nil
	case Allocation:
		l, err := store.Backend(c).List(ctx, k.all, "")
		if err != nil {
			return nil, err
		}
		for _, kv := range l.KVPairs {
			out = append(out, k.to(kv).Value.(object))
		}
		return out, nil
	}
	l, err := store.Backend(c).List(ctx, bmodel.ResourceListOptions{Kind: k.blank().GetObjectKind().GroupVersionKind().Kind}, "")
	if err != nil {
		return nil, err
	}
	for _, kv := range l.KVPairs {
		out = append(out, kv.Value.(object))
	}
	return out, nil
}

// printed are objects as JSON, each with its kind.
func printed(all []object) ([]ipam.Object, error) {
	var out []ipam.Object
	for _, o := range all {
		body, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		m := o.GetObjectMeta()
		kind := o.GetObjectKind().GroupVersionKind().Kind
		if kind == "" {
			return nil, fmt.Errorf("calico: export: %s says no kind", m.GetName())
		}
		out = append(out, ipam.Object{Kind: kind, Namespace: m.GetNamespace(), Name: m.GetName(), Body: body})
	}
	return out, nil
}
