//go:build !calico332

package record

import (
	"unsafe"

	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	k8sresources "github.com/projectcalico/calico/libcalico-go/lib/backend/k8s/resources"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
)

// handleOf is the handle of an allocation, attributesOf its owner's attributes.
func handleOf(a bmodel.AllocationAttribute) *string               { return a.AttrPrimary }
func attributesOf(a bmodel.AllocationAttribute) map[string]string { return a.AttrSecondary }

// alternateOf is nothing: up to 3.31 an allocation has one owner.
func alternateOf(bmodel.AllocationAttribute) map[string]string { return nil }

// Upstream's conversions of affinities and handles are methods that do not use their receivers.
var affinities, handles unsafe.Pointer

// BlockToV1 and BlockToV3 are upstream's.
func BlockToV1(kv *bmodel.KVPair) (*bmodel.KVPair, error) { return k8sresources.IPAMBlockV3toV1(kv) }
func BlockToV3(kv *bmodel.KVPair) *bmodel.KVPair          { return k8sresources.IPAMBlockV1toV3(kv) }

//go:linkname affinityToV1 github.com/projectcalico/calico/libcalico-go/lib/backend/k8s/resources.(*blockAffinityClient).toV1
func affinityToV1(_ unsafe.Pointer, kv *bmodel.KVPair) (*bmodel.KVPair, error)

//go:linkname affinityToV3 github.com/projectcalico/calico/libcalico-go/lib/backend/k8s/resources.(*blockAffinityClient).toV3
func affinityToV3(_ unsafe.Pointer, kv *bmodel.KVPair) *bmodel.KVPair

// Config is the IPAM configuration in the allocator's form.
func Config(s libapiv3.IPAMConfigSpec) *bmodel.IPAMConfig {
	return &bmodel.IPAMConfig{
		StrictAffinity: s.StrictAffinity, AutoAllocateBlocks: s.AutoAllocateBlocks, MaxBlocksPerHost: s.MaxBlocksPerHost,
	}
}
