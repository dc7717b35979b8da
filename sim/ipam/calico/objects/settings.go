package objects

import (
	"context"
	_ "unsafe" // for linkname

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"github.com/projectcalico/calico/libcalico-go/lib/ipam"
	validator "github.com/projectcalico/calico/libcalico-go/lib/validator/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/ipam/calico/store"
)

// settings are the IPAM configuration, of which there is one. With etcd it cannot
// be set through upstream's resource client: that one writes
// /calico/resources/v3/projectcalico.org/ipamconfigs/default, but the allocator
// reads /calico/ipam/v2/config. `calicoctl ipam configure` writes the latter, and
// so does this.
type settings struct{ empty func() object }

// IsSettings reports whether a kind is the IPAM configuration.
func IsSettings(k Kind) bool {
	_, is := k.(settings)
	return is
}

func (s settings) blank() object { return s.empty() }

// Load stores what a cluster may have. Calico's clients refuse a limit of blocks without strict
// affinity; kubectl stores it, and the allocator obeys it.
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
	_, err := store.Backend(c).Apply(ctx, &bmodel.KVPair{Key: bmodel.IPAMConfigKey{}, Value: &bmodel.IPAMConfig{
		StrictAffinity: v.Spec.StrictAffinity, AutoAllocateBlocks: v.Spec.AutoAllocateBlocks, MaxBlocksPerHost: v.Spec.MaxBlocksPerHost,
	}})
	return err
}

// create replaces what is there: the allocator itself stores the defaults as soon
// as it asks.
func (s settings) Create(ctx context.Context, c clientv3.Interface, o object) error {
	v := settingsOf(o)
	if err := validator.Validate(v); err != nil {
		return err
	}
	if err := nameOfSettings(v); err != nil {
		return err
	}
	return c.IPAM().SetIPAMConfig(ctx, ipam.IPAMConfig{
		StrictAffinity: v.Spec.StrictAffinity, AutoAllocateBlocks: v.Spec.AutoAllocateBlocks, MaxBlocksPerHost: v.Spec.MaxBlocksPerHost,
	})
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
		v.Spec = libapiv3.IPAMConfigSpec{StrictAffinity: now.StrictAffinity, AutoAllocateBlocks: now.AutoAllocateBlocks, MaxBlocksPerHost: now.MaxBlocksPerHost}
	case *apiv3.IPAMConfiguration:
		v.Spec = apiv3.IPAMConfigurationSpec{StrictAffinity: now.StrictAffinity, MaxBlocksPerHost: int32(now.MaxBlocksPerHost)}
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
	return []string{libapiv3.GlobalIPAMConfigName}, err
}

// settingsOf reads either kind. The newer one has no autoAllocateBlocks: it is on.
//
// Source: apiserver/pkg/storage/calico, IPAMConfigConverter (v3.31).
func settingsOf(o object) *libapiv3.IPAMConfig {
	v, ok := o.(*apiv3.IPAMConfiguration)
	if !ok {
		return o.(*libapiv3.IPAMConfig)
	}
	out := libapiv3.NewIPAMConfig()
	out.ObjectMeta = v.ObjectMeta
	out.Spec = libapiv3.IPAMConfigSpec{StrictAffinity: v.Spec.StrictAffinity, AutoAllocateBlocks: true, MaxBlocksPerHost: int(v.Spec.MaxBlocksPerHost)}
	return out
}

// newConfiguration is not upstream's NewIPAMConfiguration, which says that its kind
// is IPPool.
func newConfiguration() object {
	return &apiv3.IPAMConfiguration{TypeMeta: metav1.TypeMeta{APIVersion: apiv3.GroupVersionCurrent, Kind: apiv3.KindIPAMConfiguration}}
}

// nameOfSettings is upstream's check that there is but one.
//
//go:linkname nameOfSettings github.com/projectcalico/calico/libcalico-go/lib/clientv3.validateMetadata
func nameOfSettings(*libapiv3.IPAMConfig) error
