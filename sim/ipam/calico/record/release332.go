//go:build calico332

package record

import (
	"reflect"
	"unsafe"

	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	k8sresources "github.com/projectcalico/calico/libcalico-go/lib/backend/k8s/resources"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
)

// handleOf is the handle of an allocation, attributesOf its owner's attributes.
func handleOf(a bmodel.AllocationAttribute) *string               { return a.HandleID }
func attributesOf(a bmodel.AllocationAttribute) map[string]string { return a.ActiveOwnerAttrs }

// alternateOf are the attributes of the other pod of a virtual machine that migrates.
func alternateOf(a bmodel.AllocationAttribute) map[string]string { return a.AlternateOwnerAttrs }

// The clients of the kinds that the allocator writes. Only their conversions are called.
var (
	affinities = receiver(k8sresources.NewBlockAffinityClientV1(nil, k8sresources.BackingAPIGroupV1))
	handles    = receiver(k8sresources.NewIPAMHandleClient(nil, k8sresources.BackingAPIGroupV1))
	blocks     = k8sresources.NewIPAMBlockClient(nil, k8sresources.BackingAPIGroupV1).(interface {
		IPAMBlockV3toV1(*bmodel.KVPair) (*bmodel.KVPair, error)
		IPAMBlockV1toV3(*bmodel.KVPair) *bmodel.KVPair
	})
)

// receiver is the receiver of a client's methods. The conversions read from it which group
// of resources it is for.
func receiver(c k8sresources.K8sResourceClient) unsafe.Pointer {
	return reflect.ValueOf(c).UnsafePointer()
}

// BlockToV1 and BlockToV3 are upstream's.
func BlockToV1(kv *bmodel.KVPair) (*bmodel.KVPair, error) { return blocks.IPAMBlockV3toV1(kv) }
func BlockToV3(kv *bmodel.KVPair) *bmodel.KVPair          { return blocks.IPAMBlockV1toV3(kv) }

//go:linkname affinityToV1 github.com/projectcalico/calico/libcalico-go/lib/backend/k8s/resources.(*blockAffinityClientV1).toModelV1
func affinityToV1(_ unsafe.Pointer, kv *bmodel.KVPair) (*bmodel.KVPair, error)

//go:linkname affinityToV3 github.com/projectcalico/calico/libcalico-go/lib/backend/k8s/resources.(*blockAffinityClientV1).toCRD
func affinityToV3(_ unsafe.Pointer, kv *bmodel.KVPair) *bmodel.KVPair

// Config is the IPAM configuration in the allocator's form.
func Config(s libapiv3.IPAMConfigSpec) *bmodel.IPAMConfig {
	return &bmodel.IPAMConfig{
		StrictAffinity: s.StrictAffinity, AutoAllocateBlocks: s.AutoAllocateBlocks, MaxBlocksPerHost: s.MaxBlocksPerHost,
		KubeVirtVMAddressPersistence: (*string)(s.KubeVirtVMAddressPersistence),
	}
}
