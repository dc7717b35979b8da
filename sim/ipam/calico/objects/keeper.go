package objects

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	cerrors "github.com/projectcalico/calico/libcalico-go/lib/errors"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/store"
	"ipamsim/sim/kube"
)

// Keeper is Calico's own objects in one run: what operators write, and what there is to
// be exported.
type Keeper struct {
	env  ipam.Env
	ds   store.Store
	crds []*apiextv1.CustomResourceDefinition
}

// New of a run, with the definitions of Calico's custom resources.
func New(env ipam.Env, ds store.Store, crds []*apiextv1.CustomResourceDefinition) Keeper {
	return Keeper{env, ds, crds}
}

// Keeps reports whether objects of a kind live in Calico's own datastore. With
// etcd these are all of Calico's. With the Kubernetes datastore blocks,
// affinities, handles and the IPAM configuration are custom resources like any
// other; the kinds that a user may also write as projectcalico.org/v3 have to
// pass through Calico's client, which turns them into crd.projectcalico.org/v1.
func (kp Keeper) Keeps(kind string) bool {
	k := kindOf(kind)
	if k == nil || kp.env.Datastore != store.Kubernetes {
		return k != nil
	}
	switch k.(type) {
	case Allocation:
		return false
	case settings:
		return kind == apiv3.KindIPAMConfiguration // which no custom resource is called
	}
	return true
}

// Change makes an operator's change through Calico's real client: with etcd as calicoctl does, with
// validation, or as etcdctl does for kinds that calicoctl does not know.
//
// For a missing object, or one that already exists, the error is upstream's. For an invalid object
// it is an *ipam.ObjectError.
func (kp Keeper) Change(ctx context.Context, g *sim.Gate, v ipam.Verb, o ipam.Object) error {
	k := kindOf(o.Kind)
	if k == nil {
		return fmt.Errorf("calico: %s is not a kind of Calico's", o.Kind)
	}
	if _, only := k.(settings); kp.env.Datastore == store.Kubernetes && !only && !viaClient(v, o) {
		return kp.ChangeResource(ctx, g, v, o)
	}
	if err := kp.valid(v, o); err != nil {
		return err
	}
	c, err := kp.ds.Client(g, 0)
	if err != nil {
		return err
	}
	return perform(ctx, c, k, g == nil, v, o)
}

// valid checks a whole object on etcd by the schema that an API server would check it by: an
// object that exists in no cluster on the Kubernetes datastore shows nothing.
func (kp Keeper) valid(v ipam.Verb, o ipam.Object) error {
	i := slices.IndexFunc(kp.crds, func(c *apiextv1.CustomResourceDefinition) bool { return c.Spec.Names.Kind == o.Kind })
	if kp.env.Datastore == store.Kubernetes || i < 0 || v != ipam.Create && v != ipam.Apply {
		return nil
	}
	wrong, err := kube.ValidateCustom(kp.crds[i], o.Body)
	if err != nil || len(wrong) == 0 {
		return err
	}
	return &ipam.ObjectError{Object: o, Field: wrong[0].Field, Err: errors.New(wrong[0].ErrorBody())}
}

// perform is one change through a client.
func perform(ctx context.Context, c clientv3.Interface, k Kind, loading bool, v ipam.Verb, o ipam.Object) error {
	switch v {
	case ipam.Create, ipam.Apply:
		in, err := Decode(k, o)
		if err != nil {
			return err
		}
		if loading && v == ipam.Create {
			return ObjectError(k, o, k.Load(ctx, c, in))
		}
		err = k.Create(ctx, c, in)
		if exists := (cerrors.ErrorResourceAlreadyExists{}); v == ipam.Apply && errors.As(err, &exists) {
			err = k.update(ctx, c, o.Name, func(object) (object, error) { return Decode(k, o) })
		}
		return ObjectError(k, o, err)
	case ipam.Merge, ipam.JSON:
		return ObjectError(k, o, k.update(ctx, c, o.Name, func(old object) (object, error) { return patched(k, old, v, o) }))
	case ipam.Delete:
		return k.delete(ctx, c, o.Name)
	}
	return fmt.Errorf("calico: %s: %w", v, errors.ErrUnsupported)
}

// patched applies a patch to an object.
func patched(k Kind, old object, v ipam.Verb, o ipam.Object) (object, error) {
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
	return Decode(k, o)
}

// Names lists the objects of a kind, sorted, under the names that kubectl has for
// them.
func (kp Keeper) Names(ctx context.Context, g *sim.Gate, kind string) ([]string, error) {
	k := kindOf(kind)
	if k == nil {
		return nil, fmt.Errorf("calico: %s is not a kind of Calico's", kind)
	}
	c, err := kp.ds.Client(g, 0)
	if err != nil {
		return nil, err
	}
	names, err := k.names(ctx, c)
	slices.Sort(names)
	return names, err
}
