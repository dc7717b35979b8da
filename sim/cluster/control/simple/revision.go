package simple

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// revision is the index of the workload's current template among all that it has had. Kubernetes'
// controllers store templates as ReplicaSets and ControllerRevisions.
func (w *workload) revision(t *corev1.PodTemplateSpec) int {
	for i, old := range w.templates {
		if old == t || equality.Semantic.DeepEqual(old, t) {
			return i
		}
	}
	w.templates = append(w.templates, t)
	return len(w.templates) - 1
}

// revisionOf is the index of a pod's template. A pod without a mark existed at the start and counts
// as a pod of the first template.
func (w *workload) revisionOf(p *corev1.Pod) int {
	for i := 1; i < len(w.templates); i++ {
		if mark := w.mark(i); p.Labels[w.marked] == mark[w.marked] {
			return i
		}
	}
	return 0
}

// mark are the labels of pods of a template. Pods of the first template need none, except a
// Deployment's.
func (w *workload) mark(revision int) map[string]string {
	m := meta(w.object())
	switch {
	case revision > 0:
		return map[string]string{w.marked: suffix(m.GetUID(), "template", revision) + suffix(m.GetName())}
	case w.marked == appsv1.DefaultDeploymentUniqueLabelKey:
		return map[string]string{w.marked: suffix(m.GetUID(), "template") + suffix(m.GetName())}
	}
	return nil
}
