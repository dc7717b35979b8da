package objects

import (
	"context"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	validator "github.com/projectcalico/calico/libcalico-go/lib/validator/v3"

	"ipamsim/sim/ipam/calico/record"
	"ipamsim/sim/ipam/calico/store"
)

// settings is the IPAM configuration, a single object. With etcd, upstream's resource client
// cannot set it: the client writes /calico/resources/v3/projectcalico.org/ipamconfigs/default, but
// the allocator reads /calico/ipam/v2/config. `calicoctl ipam configure` writes the latter, and so
// does this type.
type settings struct{ empty func() object }

// IsSettings reports whether a kind is the IPAM configuration.
func IsSettings(k Kind) bool {
	_, is := k.(settings)
	return is
}

func (s settings) blank() object { return s.empty() }

// Load stores any settings that a cluster may have. Calico's clients refuse a limit of blocks
// without strict affinity; kubectl stores it, and the allocator obeys it.
//
// Source: libcalico-go/lib/ipam, SetIPAMConfig, which refuses it; autoAssign, which does not ask
// for strict affinity (v3.31).
func (s settings) Load(ctx context.Context, c clientv3.Interface, o object) error {
	v := settingsOf(o)
	if v.Spec.MaxBlocksPerHost == 0 || v.Spec.StrictAffinity {
		return s.Create(ctx, c, o)
	}
	if err := validator.Validate(v); err != nil {
		return err
	}
	if err := nameOfSettings(v); err != nil {
		return err
	}
	_, err := store.Backend(c).Apply(ctx, &bmodel.KVPair{Key: bmodel.IPAMConfigKey{}, Value: record.Config(v.Spec)})
	return err
}

// Create replaces an existing object: the allocator itself stores the defaults at its first read.
func (s settings) Create(ctx context.Context, c clientv3.Interface, o object) error {
	v := settingsOf(o)
	if err := validator.Validate(v); err != nil {
		return err
	}
	if err := nameOfSettings(v); err != nil {
		return err
	}
	return c.IPAM().SetIPAMConfig(ctx, allocators(v.Spec))
}

func (s settings) update(ctx context.Context, c clientv3.Interface, name string, change func(object) (object, error)) error {
	now, err := c.IPAM().GetIPAMConfig(ctx)
	if err != nil {
		return err
	}
	old := s.empty()
	old.GetObjectMeta().SetName(name)
	switch v := old.(type) {
	case *libapiv3.IPAMConfig:
		v.Spec = storedSettings(now)
	case *apiv3.IPAMConfiguration:
		v.Spec = configuration(now)
	}
	o, err := change(old)
	if err != nil {
		return err
	}
	return s.Create(ctx, c, o)
}

func (settings) delete(ctx context.Context, c clientv3.Interface, _ string) error {
	_, err := store.Backend(c).Delete(ctx, bmodel.IPAMConfigKey{}, "")
	return err
}

func (settings) names(ctx context.Context, c clientv3.Interface) ([]string, error) {
	_, err := store.Backend(c).Get(ctx, bmodel.IPAMConfigKey{}, "")
	if store.Missing(err) {
		return nil, nil
	}
	return []string{bmodel.IPAMConfigGlobalName}, err
}

// settingsOf reads either kind.
func settingsOf(o object) *libapiv3.IPAMConfig {
	v, ok := o.(*apiv3.IPAMConfiguration)
	if !ok {
		return o.(*libapiv3.IPAMConfig)
	}
	out := libapiv3.NewIPAMConfig()
	out.ObjectMeta = v.ObjectMeta
	out.Spec = ofConfiguration(v.Spec)
	return out
}
