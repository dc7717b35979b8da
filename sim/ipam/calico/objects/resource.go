package objects

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	cerrors "github.com/projectcalico/calico/libcalico-go/lib/errors"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
	"k8s.io/apimachinery/pkg/types"

	"ipamsim/sim/ipam/calico/store"
)

// typed is the part that upstream's clients of all kinds share.
type typed[T any] interface {
	Create(context.Context, T, options.SetOptions) (T, error)
	Update(context.Context, T, options.SetOptions) (T, error)
	Get(context.Context, string, options.GetOptions) (T, error)
	Delete(context.Context, string, options.DeleteOptions) (T, error)
}

// resource is a kind with one of upstream's typed clients.
type resource[T object] struct {
	empty  func() T
	client func(clientv3.Interface) typed[T]
}

func stored[T object, C typed[T]](empty func() T, client func(clientv3.Interface) C) resource[T] {
	return resource[T]{empty, func(c clientv3.Interface) typed[T] { return client(c) }}
}

func (r resource[T]) blank() object { return r.empty() }

func (r resource[T]) Load(ctx context.Context, c clientv3.Interface, o object) error {
	return r.Create(ctx, c, o)
}

func (r resource[T]) Create(ctx context.Context, c clientv3.Interface, o object) error {
	identify(o)
	_, err := r.client(c).Create(ctx, o.(T), options.SetOptions{})
	return err
}

// update retries after a conflict, as calicoctl does: five times, one second apart.
//
// Source: calicoctl/resourcemgr, resourceHelper.Update (v3.31).
func (r resource[T]) update(ctx context.Context, c clientv3.Interface, name string, change func(object) (object, error)) error {
	for try := 1; ; try++ {
		old, err := r.client(c).Get(ctx, name, options.GetOptions{})
		if err != nil {
			return err
		}
		o, err := change(old)
		if err != nil {
			return err
		}
		to, from := o.GetObjectMeta(), old.GetObjectMeta()
		to.SetResourceVersion(from.GetResourceVersion())
		to.SetCreationTimestamp(from.GetCreationTimestamp())
		to.SetUID(from.GetUID())
		_, err = r.client(c).Update(ctx, o.(T), options.SetOptions{})
		if conflict := (cerrors.ErrorResourceUpdateConflict{}); !errors.As(err, &conflict) || try == 5 {
			return err
		}
		time.Sleep(time.Second)
	}
}

func (r resource[T]) delete(ctx context.Context, c clientv3.Interface, name string) error {
	_, err := r.client(c).Delete(ctx, name, options.DeleteOptions{})
	return err
}

func (r resource[T]) names(ctx context.Context, c clientv3.Interface) ([]string, error) {
	l, err := store.Backend(c).List(ctx, bmodel.ResourceListOptions{Kind: r.empty().GetObjectKind().GroupVersionKind().Kind}, "")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, kv := range l.KVPairs {
		out = append(out, kv.Key.(bmodel.ResourceKey).Name)
	}
	return out, nil
}

// pools are loaded without regard to existing objects: neither to overlapping pools, which Primary
// has checked, nor to blocks of another size.
type pools struct{ resource[*apiv3.IPPool] }

func (pools) Load(ctx context.Context, c clientv3.Interface, o object) error {
	identify(o)
	_, err := c.IPPools().UnsafeCreate(ctx, o.(*apiv3.IPPool), options.SetOptions{})
	return err
}

// identify gives an object the uid that the client would otherwise draw at
// random.
//
// Source: libcalico-go/lib/clientv3, resources.Create (v3.31).
func identify(o object) {
	m := o.GetObjectMeta()
	if m.GetUID() == "" {
		id := o.GetObjectKind().GroupVersionKind().Kind + "/" + m.GetName()
		m.SetUID(types.UID(uuid.NewSHA1(uuid.NameSpaceURL, []byte(id)).String()))
	}
}
