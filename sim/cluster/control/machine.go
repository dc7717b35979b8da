package control

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Machine is what a machine has of which its Node says nothing.
func Machine() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("32"), corev1.ResourceMemory: resource.MustParse("128Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"), corev1.ResourcePods: resource.MustParse("110"),
	}
}
