package record

import (
	"context"
	"fmt"
	"unsafe"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	k8sresources "github.com/projectcalico/calico/libcalico-go/lib/backend/k8s/resources"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"ipamsim/sim/kube"
)

// CrdGroup is the group of Calico's custom resources.
const CrdGroup = "crd.projectcalico.org"

// watched are the resources that concern addresses.
var watched = []string{
	"ipamblocks." + CrdGroup, "blockaffinities." + CrdGroup, "ipamhandles." + CrdGroup, "ipamconfigs." + CrdGroup,
	"ippools." + CrdGroup, "ipreservations." + CrdGroup, "nodes",
}

// followKube reads the Kubernetes datastore behind the API server.
func (r *Record) followKube(api *kube.Server) error {
	for _, w := range watched {
		all, err := api.List(context.Background(), w)
		if err != nil {
			return fmt.Errorf("calico: %w", err)
		}
		for _, o := range all {
			switch o := o.(type) {
			case *corev1.Node:
				r.noteKube(kube.Change{Resource: "nodes", Name: o.Name, Object: o})
			case *unstructured.Unstructured:
				r.noteKube(kube.Change{Resource: w[:len(w)-len(CrdGroup)-1], Group: CrdGroup, Name: o.GetName(), Object: o})
			}
		}
	}
	api.OnChange(r.noteKube)
	return nil
}

func (r *Record) noteKube(c kube.Change) {
	if c.Group != CrdGroup && (c.Group != "" || c.Resource != "nodes") {
		return
	}
	key := c.Resource + "/" + c.Name
	if c.Object == nil {
		r.Note(key, Change{})
		return
	}
	n := Change{Read: func() (*bmodel.KVPair, error) { return kubePair(c.Resource, c.Object) }}
	if old, ok := c.Old.(*unstructured.Unstructured); ok && old != nil {
		n.after = old.GetResourceVersion()
	}
	r.Note(key, n)
}

// kubePair converts a stored object with upstream's own conversion to what its
// IPAM works with.
func kubePair(resource string, o runtime.Object) (*bmodel.KVPair, error) {
	if n, ok := o.(*corev1.Node); ok {
		return NodePair(n), nil
	}
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("%s is a %T", resource, o)
	}
	switch resource {
	case "ipamblocks":
		return convert(u, &libapiv3.IPAMBlock{}, BlockToV1)
	case "blockaffinities":
		return convert(u, &libapiv3.BlockAffinity{}, AffinityToV1)
	case "ipamhandles":
		return convert(u, &libapiv3.IPAMHandle{}, HandleToV1)
	case "ipamconfigs":
		if u.GetName() != bmodel.IPAMConfigGlobalName {
			return nil, nil // upstream reads no other
		}
		return convert(u, &libapiv3.IPAMConfig{}, configToV1)
	case "ippools":
		return convert(u, &apiv3.IPPool{}, func(kv *bmodel.KVPair) (*bmodel.KVPair, error) {
			_, err := k8sresources.IPPoolv1v3Converter{}.ConvertFromK8s(kv.Value.(*apiv3.IPPool))
			return kv, err
		})
	case "ipreservations":
		return convert(u, &apiv3.IPReservation{}, func(kv *bmodel.KVPair) (*bmodel.KVPair, error) { return kv, nil })
	}
	return nil, nil
}

// convert decodes a custom resource into upstream's type, and that into what its
// client for the kind would return.
func convert(u *unstructured.Unstructured, into runtime.Object, to func(*bmodel.KVPair) (*bmodel.KVPair, error)) (*bmodel.KVPair, error) {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, into); err != nil {
		return nil, err
	}
	return to(&bmodel.KVPair{Key: bmodel.ResourceKey{Kind: u.GetKind(), Name: u.GetName()}, Value: into, Revision: u.GetResourceVersion()})
}

// NodePair is a Kubernetes node as Calico sees it, as far as IP pools care.
//
// Source: libcalico-go/lib/backend/k8s/resources, K8sNodeToCalico (v3.31).
func NodePair(n *corev1.Node) *bmodel.KVPair {
	out := libapiv3.NewNode()
	out.Name, out.Labels = n.Name, n.Labels
	return &bmodel.KVPair{Key: bmodel.ResourceKey{Kind: libapiv3.KindNode, Name: n.Name}, Value: out, Revision: n.ResourceVersion}
}

// configToV1 is upstream's conversion, which cannot be reached because its receiver is a
// struct passed by value.
//
// Source: libcalico-go/lib/backend/k8s/resources, ipamConfigClient.toV1 (v3.31),
// v1IPAMConfigClient.crdToV1 (v3.32).
func configToV1(kv *bmodel.KVPair) (*bmodel.KVPair, error) {
	return &bmodel.KVPair{Key: bmodel.IPAMConfigKey{}, Revision: kv.Revision, Value: Config(kv.Value.(*libapiv3.IPAMConfig).Spec)}, nil
}

// AffinityToV1 and AffinityToV3 are upstream's conversions of affinities, from a custom resource to
// the allocator's form, and back.
func AffinityToV1(kv *bmodel.KVPair) (*bmodel.KVPair, error) { return affinityToV1(affinities, kv) }
func AffinityToV3(kv *bmodel.KVPair) *bmodel.KVPair          { return affinityToV3(affinities, kv) }

// HandleToV1 and HandleToV3 are upstream's conversions of handles.
func HandleToV1(kv *bmodel.KVPair) (*bmodel.KVPair, error) { return handleToV1(handles, kv), nil }
func HandleToV3(kv *bmodel.KVPair) *bmodel.KVPair          { return handleToV3(handles, kv) }

//go:linkname handleToV1 github.com/projectcalico/calico/libcalico-go/lib/backend/k8s/resources.(*ipamHandleClient).toV1
func handleToV1(_ unsafe.Pointer, kv *bmodel.KVPair) *bmodel.KVPair

//go:linkname handleToV3 github.com/projectcalico/calico/libcalico-go/lib/backend/k8s/resources.(*ipamHandleClient).toV3
func handleToV3(_ unsafe.Pointer, kv *bmodel.KVPair) *bmodel.KVPair
