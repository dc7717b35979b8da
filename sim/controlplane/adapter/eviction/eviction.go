// Package eviction is what the pod garbage collector takes of the kubelet's eviction
// manager (sim/controlplane/copies.txt).
package eviction

import corev1 "k8s.io/api/core/v1"

// PodIsEvicted reports whether a kubelet evicted the pod.
//
// Source: k8s.io/kubernetes/pkg/kubelet/eviction, PodIsEvicted (v1.37.2).
func PodIsEvicted(s corev1.PodStatus) bool {
	return s.Phase == corev1.PodFailed && s.Reason == "Evicted"
}
