package simple

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// syncJob runs pods until the wanted number has succeeded, at most parallelism at a time. A
// pod that failed or is deleted is replaced, later and later, until more have than the
// back-off limit.
//
// Source: k8s.io/kubernetes/pkg/controller/job, manageJob, getRemainingTimeForFailuresCount
// and exceedsBackoffLimit (v1.37.2).
func (w *workload) syncJob(ctx context.Context) error {
	job := w.object().(*batchv1.Job)
	want, parallel := number(job.Spec.Completions), number(job.Spec.Parallelism)
	fresh := false
	pods := w.mine()
	for _, p := range pods {
		switch {
		case p.Status.Phase == corev1.PodSucceeded:
			w.succeeded[p.UID] = true
		case p.Status.Phase == corev1.PodFailed || p.DeletionTimestamp != nil:
			if !w.failed[p.UID] {
				w.failed[p.UID], w.failedAt, fresh = true, w.c.World.Now(), true
			}
		}
	}
	if fresh { // pods that fail at the same time are handled together: syncJobBatchPeriod
		w.lookAgain = time.Second
		return nil
	}
	have := active(pods)
	if w.given = w.given || len(w.failed) > limit(job); w.given {
		for _, p := range have {
			if err := w.deletePod(ctx, p); err != nil {
				return err
			}
		}
		return nil
	}
	missing := min(parallel, want-len(w.succeeded)) - len(have)
	if missing <= 0 {
		return nil
	}
	if wait := w.failedAt + backoff(len(w.failed)) - w.c.World.Now(); len(w.failed) > 0 && wait > 0 {
		w.lookAgain = wait
		return nil
	}
	for range missing {
		name := fmt.Sprintf("%s-%s", job.Name, suffix(job.UID, w.made))
		if err := w.create(ctx, &job.Spec.Template, name, "", nil); err != nil {
			return err
		}
	}
	return nil
}

// limit is how many pods of a job may fail.
func limit(job *batchv1.Job) int {
	if job.Spec.BackoffLimit == nil {
		return 6
	}
	return int(*job.Spec.BackoffLimit)
}

// backoff is the time after the last of a number of failures until the next pod is created.
//
// Source: pkg/controller/job, DefaultJobPodFailureBackOff and MaxJobPodFailureBackOff
// (v1.37.2).
func backoff(failures int) time.Duration {
	d := 10 * time.Second
	for ; failures > 1 && d < 10*time.Minute; failures-- {
		d *= 2
	}
	return min(d, 10*time.Minute)
}
