package simple

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// syncJob runs pods until the wanted number has succeeded, at most parallelism
// at a time. A pod that vanished or failed is replaced.
func (w *workload) syncJob(ctx context.Context) error {
	job := w.object().(*batchv1.Job)
	want, parallel := 1, 1
	if job.Spec.Parallelism != nil {
		parallel = int(*job.Spec.Parallelism)
	}
	if job.Spec.Completions != nil {
		want = int(*job.Spec.Completions)
	}
	done := 0
	pods := w.mine()
	for _, p := range pods {
		if p.Status.Phase == corev1.PodSucceeded {
			done++
		}
	}
	for running := len(active(pods)); running < min(parallel, want-done); running++ {
		name := fmt.Sprintf("%s-%s", job.Name, suffix(job.UID, w.made))
		if err := w.create(ctx, &job.Spec.Template, name, "", nil); err != nil {
			return err
		}
	}
	return nil
}
