package calico

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	cerrors "github.com/projectcalico/calico/libcalico-go/lib/errors"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/util/json"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
)

// Keeps reports whether objects of a kind live in Calico's own datastore. With
// etcd these are all of Calico's. With the Kubernetes datastore blocks,
// affinities, handles and the IPAM configuration are custom resources like any
// other; the kinds that a user may also write as projectcalico.org/v3 have to
// pass through Calico's client, which turns them into crd.projectcalico.org/v1.
func (i *instance) Keeps(kind string) bool {
	k := kindOf(kind)
	if k == nil || i.env.Datastore != kubernetesDatastore {
		return k != nil
	}
	switch k.(type) {
	case allocation:
		return false
	case settings:
		return kind == apiv3.KindIPAMConfiguration // which no custom resource is called
	}
	return true
}

// Change does what an operator asks, through Calico's real client: with etcd as
// calicoctl would do it, which checks what it writes, and as etcdctl would where
// calicoctl does not know the kind.
//
// An object that is not there, or there already, is upstream's error. One that
// cannot be what it says is an *ipam.ObjectError.
func (i *instance) Change(ctx context.Context, g *sim.Gate, v ipam.Verb, o ipam.Object) error {
	k := kindOf(o.Kind)
	if k == nil {
		return fmt.Errorf("calico: %s is not a kind of Calico's", o.Kind)
	}
	if _, only := k.(settings); i.env.Datastore == kubernetesDatastore && !only && !viaClient(v, o) {
		return i.changeResource(ctx, g, v, o)
	}
	c, err := i.ds.client(g)
	if err != nil {
		return err
	}
	return perform(ctx, c, k, g == nil, v, o)
}

// perform is one change through a client.
func perform(ctx context.Context, c clientv3.Interface, k kind, loading bool, v ipam.Verb, o ipam.Object) error {
	switch v {
	case ipam.Create, ipam.Apply:
		in, err := decode(k, o)
		if err != nil {
			return err
		}
		if loading && v == ipam.Create {
			return objectError(k, o, k.load(ctx, c, in))
		}
		err = k.create(ctx, c, in)
		if exists := (cerrors.ErrorResourceAlreadyExists{}); v == ipam.Apply && errors.As(err, &exists) {
			err = k.update(ctx, c, o.Name, func(object) (object, error) { return decode(k, o) })
		}
		return objectError(k, o, err)
	case ipam.Merge, ipam.JSON:
		return objectError(k, o, k.update(ctx, c, o.Name, func(old object) (object, error) { return patched(k, old, v, o) }))
	case ipam.Delete:
		return k.delete(ctx, c, o.Name)
	}
	return fmt.Errorf("calico: %s: %w", v, errors.ErrUnsupported)
}

// patched applies a patch to an object.
func patched(k kind, old object, v ipam.Verb, o ipam.Object) (object, error) {
	body, err := json.Marshal(old)
	if err != nil {
		return nil, err
	}
	if v == ipam.Merge {
		body, err = jsonpatch.MergePatch(body, o.Body)
	} else {
		var p jsonpatch.Patch
		if p, err = jsonpatch.DecodePatch(o.Body); err == nil {
			body, err = p.Apply(body)
		}
	}
	if err != nil {
		return nil, err
	}
	o.Body = body
	return decode(k, o)
}

// Names lists the objects of a kind, sorted, under the names that kubectl has for
// them.
func (i *instance) Names(ctx context.Context, g *sim.Gate, kind string) ([]string, error) {
	k := kindOf(kind)
	if k == nil {
		return nil, fmt.Errorf("calico: %s is not a kind of Calico's", kind)
	}
	c, err := i.ds.client(g)
	if err != nil {
		return nil, err
	}
	names, err := k.names(ctx, c)
	slices.Sort(names)
	return names, err
}
