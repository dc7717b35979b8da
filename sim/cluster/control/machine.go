package control

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Machine is the capacity of a machine whose Node does not give it. It is as small as the
// smallest machines of a cloud, so that a pod without requests, which kube-scheduler scores as
// 100m and 200 MB, weighs more than a hundredth of it. On a larger one all scores are equal
// after rounding, and kube-scheduler takes the first of the nodes with the same score since
// 1.35.
//
// Source: pkg/scheduler/util, DefaultMilliCPURequest; pkg/scheduler, selectHost (v1.37.2).
func Machine() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"), corev1.ResourcePods: resource.MustParse("110"),
	}
}
