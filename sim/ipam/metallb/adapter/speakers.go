package adapter

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
)

// What follows is of speakers, which announce addresses and configure FRR: the controller
// starts none, and nothing is registered or sent.

// IPAdvertisement is one address that a speaker announces.
type IPAdvertisement struct{}

// IsAllInterfaces and GetInterfaces are of a speaker that is not there.
func (IPAdvertisement) IsAllInterfaces() bool           { return true }
func (IPAdvertisement) GetInterfaces() sets.Set[string] { return nil }

// ConfigName and ConfigToDump belong to a configuration of FRR that does not exist here.
func ConfigName(string) string                      { return "" }
func ConfigToDump(FRRConfiguration) (string, error) { return "", nil }

// FRRConfiguration is an object that is never created.
type FRRConfiguration struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec FRRConfigurationSpec
}

// FRRConfigurationSpec is empty.
type FRRConfigurationSpec struct{}

// DeepCopyInto copies nothing.
func (FRRConfigurationSpec) DeepCopyInto(*FRRConfigurationSpec) {}

// DeepCopy is a copy.
func (f *FRRConfiguration) DeepCopy() *FRRConfiguration {
	out := &FRRConfiguration{TypeMeta: f.TypeMeta}
	f.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return out
}

// DeepCopyObject is DeepCopy.
func (f *FRRConfiguration) DeepCopyObject() runtime.Object { return f.DeepCopy() }

// AddToScheme adds nothing.
func AddToScheme(*runtime.Scheme) error { return nil }
