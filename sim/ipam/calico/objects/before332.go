//go:build !calico332

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
	return ipam.IPAMConfig{StrictAffinity: s.StrictAffinity, AutoAllocateBlocks: s.AutoAllocateBlocks, MaxBlocksPerHost: s.MaxBlocksPerHost}
}

func storedSettings(c *ipam.IPAMConfig) libapiv3.IPAMConfigSpec {
	return libapiv3.IPAMConfigSpec{StrictAffinity: c.StrictAffinity, AutoAllocateBlocks: c.AutoAllocateBlocks, MaxBlocksPerHost: c.MaxBlocksPerHost}
}

func configuration(c *ipam.IPAMConfig) apiv3.IPAMConfigurationSpec {
	return apiv3.IPAMConfigurationSpec{StrictAffinity: c.StrictAffinity, MaxBlocksPerHost: int32(c.MaxBlocksPerHost)}
}

// ofConfiguration converts what a user wrote to the stored object. It has no autoAllocateBlocks:
// the setting is on.
//
// Source: apiserver/pkg/storage/calico, IPAMConfigConverter (v3.31).
func ofConfiguration(c apiv3.IPAMConfigurationSpec) libapiv3.IPAMConfigSpec {
	return libapiv3.IPAMConfigSpec{StrictAffinity: c.StrictAffinity, AutoAllocateBlocks: true, MaxBlocksPerHost: int(c.MaxBlocksPerHost)}
}

// newConfiguration replaces upstream's NewIPAMConfiguration, which sets the kind IPPool.
func newConfiguration() object {
	return &apiv3.IPAMConfiguration{TypeMeta: metav1.TypeMeta{APIVersion: apiv3.GroupVersionCurrent, Kind: apiv3.KindIPAMConfiguration}}
}

// nameOfSettings is upstream's check that there is but one.
//
//go:linkname nameOfSettings github.com/projectcalico/calico/libcalico-go/lib/clientv3.validateMetadata
func nameOfSettings(*libapiv3.IPAMConfig) error
