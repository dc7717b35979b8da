package controlplane_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"ipamsim/sim/kube/elect"
)

// One of two instances of each program works. If it is paused for longer than its lease, the
// other one becomes leader and continues its work; the first exits when it resumes, and its
// unfinished work does no harm.
//
// Kubernetes asserts the same: client-go, tools/leaderelection, TestTryAcquireOrRenewLeases
// and TestReleaseLeaseLeases (v0.37.2).
func TestDeposed(t *testing.T) {
	old := map[string]bool{}
	w, _, _ := liveWith(t, 2, 4*time.Minute, web, func(ctx context.Context, w *world) {
		holder := func(name string) string {
			return *must(w.CoordinationV1().Leases("kube-system").Get(ctx, name, metav1.GetOptions{})).Spec.HolderIdentity
		}
		names := []string{"kube-controller-manager", "kube-scheduler"}
		time.Sleep(time.Minute)
		scale := func(to string) {
			must(w.AppsV1().Deployments("default").Patch(ctx, "web", types.MergePatchType, []byte(`{"spec":{"replicas":`+to+`}}`), metav1.PatchOptions{}))
		}
		scale("7")
		time.Sleep(5 * time.Millisecond) // the informers are up to date
		for _, name := range names {
			old[holder(name)] = true
		}
		for id := range old {
			w.Pause(id)
		}
		time.Sleep(40 * time.Second)
		for _, name := range names {
			if now := holder(name); old[now] {
				t.Errorf("%s is still the leader", now)
			}
		}
		scale("8")
		for id := range old {
			w.Resume(id)
		}
		time.Sleep(time.Minute)
		if n := len(must(w.CoreV1().Pods("default").List(ctx, metav1.ListOptions{FieldSelector: "status.phase=" + string(corev1.PodRunning)})).Items); n != 8 {
			t.Errorf("%d pods run", n)
		}
	})
	for _, a := range w.programs {
		if deposed := errors.Is(a.Err(), elect.ErrDeposed); deposed != old[string(a.ID)] {
			t.Errorf("%s: %v", a.ID, a.Err())
		}
	}
	// The paused instance may have requested two objects without an answer: they are created
	// when it resumes, and deleted again.
	if made := len(w.lines("made")); made < 8 || made > 8+2 {
		t.Errorf("%d pods were made", made)
	}
}
