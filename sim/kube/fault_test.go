package kube_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"ipamsim/sim"
	"ipamsim/sim/kube"
)

// Each row is one way in which a creation fails before the server sees it, as a
// program that uses client-go finds out.
func TestFailBefore(t *testing.T) {
	timeout := func(err error) bool { var n net.Error; return errors.As(err, &n) && n.Timeout() }
	for level, c := range []struct {
		name string
		is   func(error) bool // nil: client-go tries again by itself and succeeds
		took time.Duration
	}{
		{"500", apierrors.IsInternalError, 0},
		{"503", apierrors.IsServiceUnavailable, 0},
		{"429", nil, time.Second},
		{"no answer", timeout, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			simulate(t, &hurt{key: "POST pods/default/web", outcome: sim.FailBefore, level: level}, func(a *actor) {
				start := time.Now()
				_, err := a.mine.CoreV1().Pods("default").Create(a.ctx, pod("web", "a"), metav1.CreateOptions{})
				if took := time.Since(start).Round(time.Second); took != c.took {
					t.Errorf("took %v, want %v", took, c.took)
				}
				stored := len(must(a.List(a.ctx, "pods")))
				if c.is == nil {
					if err != nil || stored != 1 {
						t.Errorf("%v, %d pods stored; want client-go to have tried again", err, stored)
					}
					return
				}
				if !c.is(err) || stored != 0 {
					t.Errorf("%v (%T), %d pods stored; want none", err, err, stored)
				}
			})
		})
	}
}

func TestThrottledIsTooManyRequests(t *testing.T) {
	simulate(t, &hurt{key: "POST", outcome: sim.FailBefore, level: 2}, func(a *actor) {
		err := a.mine.CoreV1().RESTClient().Post().Resource("pods").Namespace("default").MaxRetries(0).Body(pod("web", "a")).Do(a.ctx).Error()
		if s, ok := apierrors.SuggestsClientDelay(err); !apierrors.IsTooManyRequests(err) || !ok || s != 1 {
			t.Errorf("%v, delay %d", err, s)
		}
	})
}

func TestACallerWithADeadlineDoesNotWaitAMinute(t *testing.T) {
	simulate(t, &hurt{key: "GET", outcome: sim.FailBefore, level: 3}, func(a *actor) {
		ctx, cancel := context.WithTimeout(a.ctx, 5*time.Second)
		defer cancel()
		start := time.Now()
		_, err := a.mine.CoreV1().Pods("default").Get(ctx, "web", metav1.GetOptions{})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start).Round(time.Second) != 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// The server did it, the client does not know: the state that every retry must
// be safe in.
func TestLoseReply(t *testing.T) {
	simulate(t, &hurt{key: "POST", outcome: sim.LoseReply}, func(a *actor) {
		_, err := a.mine.CoreV1().Pods("default").Create(a.ctx, pod("web", "a"), metav1.CreateOptions{})
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%v, want a reset connection", err)
		}
		_, err = a.mine.CoreV1().Pods("default").Create(a.ctx, pod("web", "a"), metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			t.Errorf("trying again: %v, want AlreadyExists", err)
		}
	})
}

func TestStaleList(t *testing.T) {
	trace, _ := simulate(t, &hurt{key: "LIST pods/default?resourceVersion=0", outcome: sim.Stale}, func(a *actor) {
		pods := a.mine.CoreV1().Pods("default")
		must(pods.Create(a.ctx, pod("old", "a"), metav1.CreateOptions{}))
		time.Sleep(2 * time.Second)
		must(pods.Create(a.ctx, pod("new", "a"), metav1.CreateOptions{}))
		stale := must(pods.List(a.ctx, metav1.ListOptions{ResourceVersion: "0"}))
		if len(stale.Items) != 1 || stale.Items[0].Name != "old" || stale.ResourceVersion != "2" {
			t.Errorf("a stale list holds %d pods at %s, want the old one at 2", len(stale.Items), stale.ResourceVersion)
		}
		// What is watched from there is what the list lacked.
		w := must(pods.Watch(a.ctx, metav1.ListOptions{ResourceVersion: stale.ResourceVersion}))
		defer w.Stop()
		if e := <-w.ResultChan(); e.Type != "ADDED" || !strings.Contains(must(kubeName(e.Object)), "new") {
			t.Errorf("watched %v", e)
		}
		fresh := must(pods.List(a.ctx, metav1.ListOptions{ResourceVersion: "0"}))
		if len(fresh.Items) != 2 {
			t.Errorf("a list that the schedule left alone holds %d pods", len(fresh.Items))
		}
	})
	for _, s := range trace.Steps {
		if x, ok := s.Detail.(kube.Exchange); ok && x.Verb == "list" && s.Choice.Outcome == sim.Stale {
			if s.Note != "200 rv=2" || x.Status != 200 || !strings.Contains(string(kube.JSON(x.Response)), `"name":"old"`) {
				t.Errorf("step %s, detail %+v", s, x)
			}
			return
		}
	}
	t.Error("no step of the trace was stale")
}

func TestStepsAreForPeople(t *testing.T) {
	trace, _ := simulate(t, &hurt{}, func(a *actor) {
		pools := a.dyn.Resource(poolsGVR).Namespace("kube-system")
		p := must(pools.Create(a.ctx, pool("10.0.0.0-24"), metav1.CreateOptions{}))
		must(pools.Patch(a.ctx, "10.0.0.0-24", types.JSONPatchType, claim(p.GetResourceVersion(), 1), metav1.PatchOptions{}))
		_, _ = pools.Patch(a.ctx, "10.0.0.0-24", types.JSONPatchType, claim(p.GetResourceVersion(), 2), metav1.PatchOptions{})
		_, _ = pools.Get(a.ctx, "other", metav1.GetOptions{})
		_, _ = a.mine.CoreV1().Pods("").List(kube.WithClass(a.ctx, "slow"), metav1.ListOptions{FieldSelector: "spec.nodeName=a"})
	})
	want := []string{
		"POST ippools/kube-system/10.0.0.0-24 → 201 rv=2",
		"PATCH ippools/kube-system/10.0.0.0-24 → 200 rv=3",
		"PATCH ippools/kube-system/10.0.0.0-24 → 422 Invalid",
		"GET ippools/kube-system/other → 404 NotFound",
		"LIST pods?fieldSelector=spec.nodeName=a → 200 rv=3",
	}
	for i, s := range trace.Steps {
		if got := s.Choice.Op.Key + " → " + s.Note; i >= len(want) || got != want[i] {
			t.Errorf("step %d is %q", i+1, got)
		}
	}
	if c := trace.Steps[4].Choice.Op.Class; c != "slow" {
		t.Errorf("class %q, want the one of the context", c)
	}
}

func TestDoorsRepeat(t *testing.T) {
	story := func() (uint64, string) {
		trace, digest := simulate(t, &hurt{}, func(a *actor) {
			for range 3 {
				p := pod("", "a")
				p.GenerateName = "web-"
				must(a.mine.CoreV1().Pods("default").Create(a.ctx, p, metav1.CreateOptions{}))
			}
		})
		return trace.Digest(), digest
	}
	t1, s1 := story()
	t2, s2 := story()
	if t1 != t2 || s1 != s2 {
		t.Errorf("traces %x %x, stores %s %s", t1, t2, s1, s2)
	}
}
