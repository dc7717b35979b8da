//go:build calico332

package objects

import (
	_ "unsafe" // for linkname

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/ipam"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// allocators are the settings as the allocator's interface takes them, stored as they are
// stored, configuration as a user of projectcalico.org/v3 writes them.
func allocators(s libapiv3.IPAMConfigSpec) ipam.IPAMConfig {
	return ipam.IPAMConfig{
		StrictAffinity: s.StrictAffinity, AutoAllocateBlocks: s.AutoAllocateBlocks, MaxBlocksPerHost: s.MaxBlocksPerHost,
		KubeVirtVMAddressPersistence: (*ipam.VMAddressPersistence)(s.KubeVirtVMAddressPersistence),
	}
}

func storedSettings(c *ipam.IPAMConfig) libapiv3.IPAMConfigSpec {
	return libapiv3.IPAMConfigSpec{
		StrictAffinity: c.StrictAffinity, AutoAllocateBlocks: c.AutoAllocateBlocks, MaxBlocksPerHost: c.MaxBlocksPerHost,
		KubeVirtVMAddressPersistence: (*libapiv3.VMAddressPersistence)(c.KubeVirtVMAddressPersistence),
	}
}

func configuration(c *ipam.IPAMConfig) apiv3.IPAMConfigurationSpec {
	return apiv3.IPAMConfigurationSpec{
		StrictAffinity: c.StrictAffinity, AutoAllocateBlocks: c.AutoAllocateBlocks, MaxBlocksPerHost: int32(c.MaxBlocksPerHost),
		KubeVirtVMAddressPersistence: (*apiv3.VMAddressPersistence)(c.KubeVirtVMAddressPersistence),
	}
}

// ofConfiguration converts what a user wrote to the stored object.
//
// Source: libcalico-go/lib/backend/k8s/resources, v3IPAMConfigClient (v3.32).
func ofConfiguration(c apiv3.IPAMConfigurationSpec) libapiv3.IPAMConfigSpec {
	return libapiv3.IPAMConfigSpec{
		StrictAffinity: c.StrictAffinity, AutoAllocateBlocks: c.AutoAllocateBlocks, MaxBlocksPerHost: int(c.MaxBlocksPerHost),
		KubeVirtVMAddressPersistence: (*libapiv3.VMAddressPersistence)(c.KubeVirtVMAddressPersistence),
	}
}

// newConfiguration has the default of a field that a manifest need not have.
func newConfiguration() object {
	return &apiv3.IPAMConfiguration{
		TypeMeta: metav1.TypeMeta{APIVersion: apiv3.GroupVersionCurrent, Kind: apiv3.KindIPAMConfiguration},
		Spec:     apiv3.IPAMConfigurationSpec{AutoAllocateBlocks: true},
	}
}

// nameOfSettings is upstream's check that there is but one, which looks at nothing but the
// name.
func nameOfSettings(c *libapiv3.IPAMConfig) error {
	return validateMetadata(&apiv3.IPAMConfiguration{ObjectMeta: c.ObjectMeta})
}

//go:linkname validateMetadata github.com/projectcalico/calico/libcalico-go/lib/clientv3.validateMetadata
func validateMetadata(*apiv3.IPAMConfiguration) error
