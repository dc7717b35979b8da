package objects

import (
	"context"
	"errors"
	"fmt"

	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	cerrors "github.com/projectcalico/calico/libcalico-go/lib/errors"

	"ipamsim/sim/ipam/calico/record"
	"ipamsim/sim/ipam/calico/store"
)

// Allocation is a kind that only the allocator itself writes: blocks, affinities and handles. Only
// an operator's repair uses it. The names are those of kubectl: 10-64-75-0-26, node-10-64-75-0-26.
// As with kubectl, nothing is validated.
type Allocation struct {
	empty func() object
	all   bmodel.ListInterface
	// from and to are upstream's conversions: from a custom resource to the object that the
	// allocator stores, and back.
	from func(*bmodel.KVPair) (*bmodel.KVPair, error)
	to   func(*bmodel.KVPair) *bmodel.KVPair
}

func (a Allocation) blank() object { return a.empty() }

func (a Allocation) Load(ctx context.Context, c clientv3.Interface, o object) error {
	return a.Create(ctx, c, o)
}

func (a Allocation) Create(ctx context.Context, c clientv3.Interface, o object) error {
	kv, err := a.pair(o)
	if err != nil {
		return err
	}
	_, err = store.Backend(c).Create(ctx, kv)
	return err
}

// pair is the object as the allocator stores it, under the key that its content determines. A name
// that contradicts the content is refused: upstream would never find the object in the Kubernetes
// datastore.
func (a Allocation) pair(o object) (*bmodel.KVPair, error) {
	name := o.GetObjectMeta().GetName()
	kv, err := a.from(&bmodel.KVPair{Key: bmodel.ResourceKey{Name: name}, Value: o})
	if err != nil {
		return nil, &record.FieldError{Field: "spec.cidr", Err: err} // the only thing that is parsed
	}
	if want := a.name(kv); name != want {
		return nil, &record.FieldError{Field: "metadata.name", Err: fmt.Errorf("%q: Calico calls this object %s", name, want)}
	}
	return kv, nil
}

func (a Allocation) name(kv *bmodel.KVPair) string { return a.to(kv).Key.(bmodel.ResourceKey).Name }

func (a Allocation) update(ctx context.Context, c clientv3.Interface, name string, change func(object) (object, error)) error {
	old, err := a.find(ctx, c, name)
	if err != nil {
		return err
	}
	o, err := change(a.to(old).Value.(object))
	if err != nil {
		return err
	}
	kv, err := a.pair(o)
	if err != nil {
		return err
	}
	kv.Revision = old.Revision
	_, err = store.Backend(c).Update(ctx, kv)
	return err
}

// delete deletes the object in any revision, as kubectl does.
func (a Allocation) delete(ctx context.Context, c clientv3.Interface, name string) error {
	kv, err := a.find(ctx, c, name)
	if err != nil {
		return err
	}
	_, err = store.Backend(c).Delete(ctx, kv.Key, "")
	return err
}

// find searches all objects of the kind: a name is ambiguous about the end of its host and the
// beginning of its block.
func (a Allocation) find(ctx context.Context, c clientv3.Interface, name string) (*bmodel.KVPair, error) {
	l, err := store.Backend(c).List(ctx, a.all, "")
	if err != nil {
		return nil, err
	}
	for _, kv := range l.KVPairs {
		if a.name(kv) == name {
			return kv, nil
		}
	}
	kind := a.empty().GetObjectKind().GroupVersionKind().Kind
	return nil, cerrors.ErrorResourceDoesNotExist{Identifier: fmt.Sprintf("%s(%s)", kind, name), Err: errors.New("there is none of this name")}
}

func (a Allocation) names(ctx context.Context, c clientv3.Interface) ([]string, error) {
	l, err := store.Backend(c).List(ctx, a.all, "")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, kv := range l.KVPairs {
		out = append(out, a.name(kv))
	}
	return out, nil
}
