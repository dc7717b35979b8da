package kubeapi

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// RunFor is how long a pod's containers run before they exit; 0 means forever. Jobs' pods run
// for 5 s by default.
func RunFor(p *corev1.Pod) time.Duration {
	if Outcome(p) == corev1.PodFailed && p.Spec.RestartPolicy != corev1.RestartPolicyNever {
		return 0 // they are started again, in the same sandbox
	}
	if d, err := time.ParseDuration(p.Annotations["ipamsim.dev/run-for"]); err == nil {
		return d
	}
	for _, o := range p.OwnerReferences {
		if o.Kind == "Job" {
			return 5 * time.Second
		}
	}
	return 0
}

// Outcome is the phase of a pod whose containers exit by themselves: Succeeded, unless its
// annotation sets another exit code than 0.
func Outcome(p *corev1.Pod) corev1.PodPhase {
	if code := p.Annotations["ipamsim.dev/exit-code"]; code != "" && code != "0" {
		return corev1.PodFailed
	}
	return corev1.PodSucceeded
}
