package kube_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/kube"
)

// TestTap: a tap receives every message with its answer, in order, and the events of watches. It
// also receives cached answers and refusals.
func TestTap(t *testing.T) {
	serve(t, func(ctx context.Context, c *cluster) {
		var got []string
		var watched *kube.Events
		c.Tap(func(m *kube.Message) {
			got = append(got, m.Method+" "+m.URI+" "+[]string{2: "ok", 4: "refused"}[m.Status/100])
			if m.Events != nil {
				watched = m.Events
			} else if !strings.Contains(string(kube.JSON(m.Answer)), `"kind":`) {
				t.Errorf("%s %s: answer %q", m.Method, m.URI, m.Answer)
			}
		})
		pods := c.core.CoreV1().Pods("default")
		w := must(pods.Watch(ctx, metav1.ListOptions{}))
		must(pods.Create(ctx, pod("web", "a"), metav1.CreateOptions{}))
		must(pods.Get(ctx, "web", metav1.GetOptions{}))
		must(pods.Get(ctx, "web", metav1.GetOptions{}))
		if _, err := pods.Get(ctx, "none", metav1.GetOptions{}); err == nil {
			t.Error("there is a pod that nobody made")
		}
		c.run.Pump()
		<-w.ResultChan()
		if watched.Until() != 0 {
			t.Error("the watch has ended before it was stopped")
		}
		w.Stop()
		synctest.Wait()
		if got := watched.Until(); got == 0 {
			t.Error("the watch was stopped and has not ended")
		}
		const at = "/api/v1/namespaces/default/pods"
		want := []string{"GET " + at + "?watch=true ok", "POST " + at + " ok", "GET " + at + "/web ok", "GET " + at + "/web ok", "GET " + at + "/none refused"}
		if !slices.Equal(got, want) {
			t.Errorf("told of %q, want %q", got, want)
		}
		if event := string(kube.JSON(watched.Bytes())); !strings.Contains(event, `"ADDED"`) || !strings.Contains(event, `"web"`) {
			t.Errorf("the watch told %s", event)
		}
	})
}

// TestServed: discovery says of each resource what its clients need, and the same in the
// second run of a process.
func TestServed(t *testing.T) {
	var before []string
	for range 2 {
		serve(t, func(_ context.Context, c *cluster) {
			var all []string
			for _, g := range must(c.Served()).Groups {
				for _, v := range g.Versions {
					for _, r := range v.Resources {
						all = append(all, g.Name+"/"+v.Version+" "+r.Resource+" "+strings.Join(r.ShortNames, ",")+" "+string(r.Scope))
						for _, s := range r.Subresources {
							all = append(all, r.Resource+"/"+s.Subresource)
						}
					}
				}
			}
			for _, want := range []string{"/v1 pods po Namespaced", "/v1 nodes no Cluster", "pods/status", "apps/v1 deployments deploy Namespaced", "deployments/scale",
				"whereabouts.cni.cncf.io/v1alpha1 ippools  Namespaced"} {
				if !slices.Contains(all, want) {
					t.Errorf("no %q in %q", want, all)
				}
			}
			if before != nil && !slices.Equal(all, before) {
				t.Errorf("the second run serves %q, the first %q", all, before)
			}
			before = all
		})
	}
}

// TestServedOpensNoAllocators: Services are given the same addresses in the first run of a
// process as in the second, which need not build anything to say what it serves.
func TestServedOpensNoAllocators(t *testing.T) {
	kube.ForgetHandlers()
	var before string
	for range 2 {
		serve(t, func(ctx context.Context, c *cluster) {
			must(c.Served())
			time.Sleep(10 * time.Second) // the allocators draw by the time of their opening
			service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
			got := must(c.core.CoreV1().Services("default").Create(ctx, service, metav1.CreateOptions{})).Spec.ClusterIP
			if before != "" && got != before {
				t.Errorf("%s in the second run, %s in the first", got, before)
			}
			before = got
			check(c.core.CoreV1().Services("default").Delete(ctx, "web", metav1.DeleteOptions{}))
		})
	}
}
