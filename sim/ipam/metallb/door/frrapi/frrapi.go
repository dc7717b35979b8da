// Package frrapi is what speakers tell FRR: the controller starts none, and nothing is
// registered or sent.
package frrapi

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// FRRConfiguration is an object that nobody makes.
type FRRConfiguration struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec FRRConfigurationSpec
}

// FRRConfigurationSpec says nothing.
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
