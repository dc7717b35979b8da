package objects

import (
	"context"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	k8sresources "github.com/projectcalico/calico/libcalico-go/lib/backend/k8s/resources"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"

	"ipamsim/sim/ipam/calico/record"
)

// Kind stores objects of one kind in Calico's own datastore, with Calico's validation.
type Kind interface {
	// blank is an empty object of the kind, to decode a manifest into.
	blank() object
	// Load stores an object that was there before anything else; the order of
	// loading does not matter.
	Load(context.Context, clientv3.Interface, object) error
	Create(context.Context, clientv3.Interface, object) error
	// update writes the result of change for the object with a name.
	update(ctx context.Context, c clientv3.Interface, name string, change func(object) (object, error)) error
	delete(ctx context.Context, c clientv3.Interface, name string) error
	names(context.Context, clientv3.Interface) ([]string, error)
}

// object is a resource of Calico's with its metadata.
type object = k8sresources.Resource

// Kinds are Calico's kinds, in the order in which a scenario's objects are validated: pools against
// each other before the blocks inside them.
var Kinds = []struct {
	Name string
	Kind
}{
	{apiv3.KindClusterInformation, stored(apiv3.NewClusterInformation, clientv3.Interface.ClusterInformation)},
	{apiv3.KindFelixConfiguration, stored(apiv3.NewFelixConfiguration, clientv3.Interface.FelixConfigurations)},
	{apiv3.KindBGPConfiguration, stored(apiv3.NewBGPConfiguration, clientv3.Interface.BGPConfigurations)},
	{apiv3.KindBGPPeer, stored(apiv3.NewBGPPeer, clientv3.Interface.BGPPeers)},
	{apiv3.KindKubeControllersConfiguration, stored(apiv3.NewKubeControllersConfiguration, clientv3.Interface.KubeControllersConfiguration)},
	{apiv3.KindHostEndpoint, stored(apiv3.NewHostEndpoint, clientv3.Interface.HostEndpoints)},
	{apiv3.KindTier, stored(apiv3.NewTier, clientv3.Interface.Tiers)},
	{apiv3.KindIPPool, pools{stored(apiv3.NewIPPool, clientv3.Interface.IPPools)}},
	{apiv3.KindIPReservation, stored(apiv3.NewIPReservation, clientv3.Interface.IPReservations)},
	{libapiv3.KindIPAMConfig, settings{func() object { return libapiv3.NewIPAMConfig() }}},
	{apiv3.KindIPAMConfiguration, settings{newConfiguration}},
	{libapiv3.KindIPAMHandle, Allocation{func() object { return libapiv3.NewIPAMHandle() }, bmodel.IPAMHandleListOptions{}, record.HandleToV1, record.HandleToV3}},
	{libapiv3.KindIPAMBlock, Allocation{func() object { return libapiv3.NewIPAMBlock() }, bmodel.BlockListOptions{}, record.BlockToV1, record.BlockToV3}},
	{libapiv3.KindBlockAffinity, Allocation{func() object { return libapiv3.NewBlockAffinity() }, bmodel.BlockAffinityListOptions{}, record.AffinityToV1, record.AffinityToV3}},
}

// kindOf finds a kind, or nil.
func kindOf(name string) Kind {
	for _, k := range Kinds {
		if k.Name == name {
			return k.Kind
		}
	}
	return nil
}
