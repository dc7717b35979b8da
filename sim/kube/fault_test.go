package kube_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"ipamsim/sim"
	"ipamsim/sim/kube"
	"ipamsim/sim/kube/answer"
	"ipamsim/sim/way"
)

// What a program that uses client-go gets to see of each answer, after how long, and whether
// its request was executed. Is nil: client-go tries again by itself, and that is executed.
func TestWhatClientsSee(t *testing.T) {
	text := func(want string) func(error) bool {
		return func(err error) bool { return err != nil && err.Error() == want }
	}
	const before, after = sim.FailBefore, sim.LoseReply
	for _, c := range []struct {
		verb    string
		outcome sim.Outcome
		way     way.Way
		is      func(error) bool
		took    time.Duration
	}{
		{"POST", before, way.Refused, utilnet.IsConnectionRefused, 0},
		{"GET", before, way.Refused, utilnet.IsConnectionRefused, 0},
		{"POST", before, way.Throttled, nil, time.Second},
		{"GET", before, way.Throttled, nil, time.Second},
		{"POST", before, way.ShuttingDown, nil, 5 * time.Second},
		{"GET", before, way.ShuttingDown, nil, 5 * time.Second},
		{"POST", before, way.Unavailable, nil, time.Second},
		{"GET", before, way.Unavailable, nil, time.Second},
		{"POST", before, way.Timeout, apierrors.IsTimeout, 34 * time.Second},
		{"POST", after, way.Timeout, apierrors.IsTimeout, 34 * time.Second},
		{"GET", before, way.Timeout, apierrors.IsTimeout, time.Minute},
		{"POST", before, way.EtcdTimeout, text("etcdserver: request timed out"), 7 * time.Second},
		{"POST", after, way.EtcdTimeout, text("etcdserver: request timed out"), 7 * time.Second},
		{"POST", after, way.Reset, utilnet.IsConnectionReset, 0},
		{"POST", before, way.ConnectionLost, utilnet.IsProbableEOF, 0},
		{"POST", after, way.ConnectionLost, utilnet.IsProbableEOF, 0},
		{"GET", before, way.ConnectionLost, nil, time.Second},
	} {
		t.Run(fmt.Sprint(c.verb, " ", c.outcome, " ", c.way), func(t *testing.T) {
			_, _ = simulate(t, &hurt{key: c.verb + " pods/default/web", outcome: c.outcome, way: c.way}, func(a *actor) {
				pods := a.mine.CoreV1().Pods("default")
				var err error
				start := time.Now()
				if c.verb == "GET" {
					must(a.core.CoreV1().Pods("default").Create(a.ctx, pod("web", "a"), metav1.CreateOptions{}))
					_, err = pods.Get(a.ctx, "web", metav1.GetOptions{})
				} else {
					_, err = pods.Create(a.ctx, pod("web", "a"), metav1.CreateOptions{})
				}
				if took := time.Since(start).Round(time.Second); took != c.took {
					t.Errorf("took %v, want %v", took, c.took)
				}
				if stored, want := len(must(a.List(a.ctx, "pods"))) == 1, c.is == nil || c.outcome == after || c.verb == "GET"; stored != want {
					t.Errorf("stored: %v, want %v", stored, want)
				}
				if c.is == nil && err != nil || c.is != nil && !c.is(err) {
					t.Errorf("%v (%T)", err, err)
				}
			})
		})
	}
}

// A client that does not try again, or has tried often enough, gets the reason.
func TestAnswersThatAreTriedAgain(t *testing.T) {
	for _, c := range []struct {
		way   way.Way
		is    func(error) bool
		delay int
	}{
		{way.Throttled, apierrors.IsTooManyRequests, 1},
		{way.ShuttingDown, apierrors.IsTooManyRequests, 5},
		{way.Unavailable, apierrors.IsServiceUnavailable, 0},
	} {
		simulate(t, &hurt{key: "POST", outcome: sim.FailBefore, way: c.way}, func(a *actor) {
			err := a.mine.CoreV1().RESTClient().Post().Resource("pods").Namespace("default").MaxRetries(0).Body(pod("web", "a")).Do(a.ctx).Error()
			if s, _ := apierrors.SuggestsClientDelay(err); !c.is(err) || s != c.delay {
				t.Errorf("%s: %v, delay %d, want %d", c.way, err, s, c.delay)
			}
		})
	}
}

// The table says what Kubernetes' own constructors do.
func TestStatuses(t *testing.T) {
	for _, c := range []struct {
		way   way.Way
		meets answer.Meets
		want  *apierrors.StatusError
	}{
		{way.Unavailable, answer.Read, apierrors.NewServiceUnavailable("apiserver is shutting down")},
		{way.Timeout, answer.Read, apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0)},
		{way.Timeout, answer.Write, apierrors.NewTimeoutError("request did not complete within requested timeout - context deadline exceeded", 0)},
		{way.Expired, answer.Resume, apierrors.NewResourceExpired("too old resource version")},
	} {
		got := kube.StatusOf(answer.Of(answer.API, c.meets, c.way))
		got.TypeMeta = metav1.TypeMeta{}
		if d := cmp.Diff(c.want.ErrStatus, *got); d != "" {
			t.Errorf("%s (-Kubernetes +table):\n%s", c.way, d)
		}
	}
}

func TestACallerWithADeadlineDoesNotWaitAMinute(t *testing.T) {
	simulate(t, &hurt{key: "GET", outcome: sim.FailBefore, way: way.Timeout}, func(a *actor) {
		ctx, cancel := context.WithTimeout(a.ctx, 5*time.Second)
		defer cancel()
		start := time.Now()
		_, err := a.mine.CoreV1().Pods("default").Get(ctx, "web", metav1.GetOptions{})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start).Round(time.Second) != 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// A lost connection ends its watches, which the client opens again, and its requests. The client
// retries the reads among them. Other connections continue.
func TestLostConnection(t *testing.T) {
	var heard []string
	trace, _ := simulate(t, &hurt{key: "POST pods/default/web", outcome: sim.LoseReply, way: way.ConnectionLost}, func(a *actor) {
		informed(a, 0, &heard)
		other := must(newActor(a.ctx, a.cluster, a.gate).mine.CoreV1().Pods("default").Watch(a.ctx, metav1.ListOptions{}))
		defer other.Stop()
		nodes := must(a.mine.CoreV1().Nodes().Watch(a.ctx, metav1.ListOptions{}))
		_, err := a.mine.CoreV1().Pods("default").Create(a.ctx, pod("web", "a"), metav1.CreateOptions{})
		if !utilnet.IsProbableEOF(err) {
			t.Errorf("%v, want the end of the connection", err)
		}
		if e, open := <-nodes.ResultChan(); open {
			t.Errorf("the watch of nodes goes on: %v", e)
		}
		if e := <-other.ResultChan(); e.Type != "ADDED" {
			t.Errorf("the other connection's watch: %v", e)
		}
		time.Sleep(time.Minute)
	})
	if got := strings.Join(heard, ", "); got != "add web" {
		t.Errorf("heard %q", got)
	}
	watches := 0
	for _, k := range keys(trace) {
		if strings.HasPrefix(k, "proceed WATCH pods?") {
			watches++
		}
	}
	if watches != 2 {
		t.Errorf("the informer watched %d times:\n%s", watches, strings.Join(keys(trace), "\n"))
	}
}

// The server did it, the client does not know: the state that every retry must
// be safe in.
func TestLoseReply(t *testing.T) {
	simulate(t, &hurt{key: "POST", outcome: sim.LoseReply, way: way.Reset}, func(a *actor) {
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
		// A watch from that revision delivers what the list lacked.
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

func TestTransportsRepeat(t *testing.T) {
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
