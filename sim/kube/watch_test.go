package kube_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/way"
)

func kubeName(o runtime.Object) (string, error) {
	m, err := meta.Accessor(o)
	if err != nil {
		return "", err
	}
	return m.GetName(), nil
}

// informed starts a pod informer with the actor's transport and logs its events.
func informed(a *actor, resync time.Duration, heard *[]string) cache.SharedIndexInformer {
	f := informers.NewSharedInformerFactory(a.mine, resync)
	inf := f.Core().V1().Pods().Informer()
	say := func(what string) func(any) {
		return func(o any) {
			if d, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = d.Obj
			}
			*heard = append(*heard, what+" "+o.(*corev1.Pod).Name)
		}
	}
	_, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: say("add"), DeleteFunc: say("delete"),
		UpdateFunc: func(old, o any) {
			if old.(*corev1.Pod).ResourceVersion != o.(*corev1.Pod).ResourceVersion {
				say("update")(o)
			}
		},
	})
	check(err)
	f.Start(a.ctx.Done())
	f.WaitForCacheSync(a.ctx.Done())
	return inf
}

// change makes one pod come, change and go.
func change(a *actor) {
	pods, now := a.mine.CoreV1().Pods("default"), int64(0)
	must(pods.Create(a.ctx, pod("web", "a"), metav1.CreateOptions{}))
	time.Sleep(time.Second)
	must(pods.Patch(a.ctx, "web", types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"1"}}}`), metav1.PatchOptions{}))
	time.Sleep(time.Second)
	check(pods.Delete(a.ctx, "web", metav1.DeleteOptions{GracePeriodSeconds: &now}))
	time.Sleep(2 * time.Minute) // longer than any back-off of the reflector
}

// keys are the messages of an informer.
func keys(trace *sim.Trace) (out []string) {
	for _, s := range trace.Steps {
		if k := s.Choice.Op.Kind; k == sim.Read || k == sim.Watch || k == sim.Event {
			out = append(out, s.Choice.Outcome.String()+" "+s.Choice.Op.Key)
		}
	}
	return out
}

// An informer lists and then watches where the process is built with an older client-go,
// and gets both in one stream since 0.35.
func TestInformer(t *testing.T) {
	for _, c := range []struct {
		built  string
		resync time.Duration
		begins []string
	}{
		{"0.34", 0, []string{"proceed LIST pods?resourceVersion=0", "proceed WATCH pods?resourceVersion=1"}},
		{"0.34", time.Hour, []string{"proceed LIST pods?resourceVersion=0", "proceed WATCH pods?resourceVersion=1"}},
		{"0.35", 0, []string{"proceed WATCH pods?sendInitialEvents=true"}},
		{"", time.Hour, []string{"proceed WATCH pods?sendInitialEvents=true"}},
	} {
		t.Run(fmt.Sprint(c.built, c.resync), func(t *testing.T) {
			if !hermetic.Enabled && c.built == "0.34" {
				t.Skip("NOT TESTED: on the stock runtime every process has the features of the client-go that is compiled in")
			}
			var heard []string
			trace, _ := simulate(t, &hurt{}, func(a *actor) { sim.BuiltWith(c.built); informed(a, c.resync, &heard); change(a) })
			if got := strings.Join(heard, ", "); got != "add web, update web, update web, delete web" {
				t.Errorf("heard %q", got)
			}
			want := append(c.begins,
				"proceed EVENT ADDED pods/default/web rv=2", "proceed EVENT MODIFIED pods/default/web rv=3",
				"proceed EVENT MODIFIED pods/default/web rv=4", "proceed EVENT DELETED pods/default/web rv=5",
			)
			if got := keys(trace); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("steps\n%s", strings.Join(got, "\n"))
			}
		})
	}
}

// After any fault of the watch, the informer has the true state in the end.
func TestBrokenWatches(t *testing.T) {
	const streams, lists = "0.35", "0.34"
	for _, c := range []struct {
		built, name string
		hurt        hurt
		then        string // what the informer does about it
	}{
		{lists, "drop", hurt{key: "EVENT MODIFIED", outcome: sim.Drop}, "proceed WATCH pods?resourceVersion=2"},
		{lists, "gone", hurt{key: "EVENT MODIFIED", outcome: sim.Gone}, "proceed LIST pods"},
		{lists, "gone at once", hurt{key: "WATCH pods", outcome: sim.FailBefore, way: way.Expired}, "proceed LIST pods"},
		{lists, "refused", hurt{key: "WATCH pods", outcome: sim.FailBefore, way: way.Refused}, "proceed WATCH pods?resourceVersion=1"},
		{lists, "no list", hurt{key: "LIST pods", outcome: sim.FailBefore, way: way.Timeout}, "proceed LIST pods?resourceVersion=0"},
		{streams, "drop", hurt{key: "EVENT MODIFIED", outcome: sim.Drop}, "proceed WATCH pods?resourceVersion=2"},
		{streams, "gone", hurt{key: "EVENT MODIFIED", outcome: sim.Gone}, "proceed WATCH pods?resourceVersion=2&sendInitialEvents=true"},
		{streams, "gone at once", hurt{key: "WATCH pods", outcome: sim.FailBefore, way: way.Expired}, "proceed WATCH pods?sendInitialEvents=true"},
		{streams, "refused", hurt{key: "WATCH pods", outcome: sim.FailBefore, way: way.Refused}, "proceed WATCH pods?sendInitialEvents=true"},
	} {
		t.Run(c.built+" "+c.name, func(t *testing.T) {
			if !hermetic.Enabled && c.built == lists {
				t.Skip("NOT TESTED: on the stock runtime every process has the features of the client-go that is compiled in")
			}
			var heard []string
			trace, _ := simulate(t, &c.hurt, func(a *actor) {
				sim.BuiltWith(c.built)
				inf := informed(a, 0, &heard)
				change(a)
				if n := len(inf.GetStore().List()); n != 0 {
					t.Errorf("the informer still knows %d pods", n)
				}
			})
			steps := keys(trace)
			for i, s := range steps {
				if strings.HasPrefix(s, c.hurt.outcome.String()) && c.hurt.outcome != sim.Proceed {
					for _, s := range steps[i+1:] {
						if strings.HasPrefix(s, c.then) {
							return
						}
					}
				}
			}
			t.Errorf("no %q after the fault:\n%s", c.then, strings.Join(steps, "\n"))
		})
	}
}

func TestWatchWithASelector(t *testing.T) {
	simulate(t, &hurt{}, func(a *actor) {
		w := must(a.mine.CoreV1().Pods("").Watch(a.ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=b"}))
		defer w.Stop()
		for _, node := range []string{"a", "b"} {
			must(a.mine.CoreV1().Pods("default").Create(a.ctx, pod("on-"+node, node), metav1.CreateOptions{}))
		}
		if e := <-w.ResultChan(); must(kubeName(e.Object)) != "on-b" {
			t.Errorf("watched %v", e)
		}
	})
}

// A process that is killed receives no more events and leaves no goroutine behind, even if
// nothing ends its watch: the run fails if a goroutine is left.
func TestKilledInformer(t *testing.T) {
	var heard []string
	simulate(t, &hurt{}, func(a *actor) {
		w, pods := a.gate.World(), a.mine.CoreV1().Pods("default")
		w.Spawn(sim.Process{ID: "victim", Run: func(ctx context.Context, g *sim.Gate) error {
			v := newActor(ctx, a.cluster, g)
			informed(v, 0, &heard)
			must(v.mine.CoreV1().Nodes().Watch(context.Background(), metav1.ListOptions{}))
			<-ctx.Done()
			return nil
		}})
		time.Sleep(time.Second)
		must(pods.Create(a.ctx, pod("before", "a"), metav1.CreateOptions{}))
		time.Sleep(time.Second)
		w.Kill("victim")
		must(pods.Create(a.ctx, pod("after", "a"), metav1.CreateOptions{}))
		time.Sleep(time.Minute)
	})
	if got := strings.Join(heard, ", "); got != "add before" {
		t.Errorf("heard %q", got)
	}
}

// A client whose resource version was compacted gets an error.
func TestCompactedHistoryIsGone(t *testing.T) {
	simulate(t, &hurt{}, func(a *actor) {
		pods := a.mine.CoreV1().Pods("default")
		for i := range 5 {
			must(pods.Create(a.ctx, pod(fmt.Sprint("web-", i), "a"), metav1.CreateOptions{}))
			time.Sleep(4 * time.Minute)
		}
		w := must(pods.Watch(a.ctx, metav1.ListOptions{ResourceVersion: "2"}))
		defer w.Stop()
		e := <-w.ResultChan()
		if s, ok := e.Object.(*metav1.Status); !ok || s.Code != 410 {
			t.Errorf("watched %v, want 410", e)
		}
	})
}
