package kube_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Server-side apply merges lists by their keys, removes fields that its manager applied before and
// no longer applies, and refuses to take over fields of another manager.
//
// Kubernetes asserts the same: test/integration/apiserver/apply, TestApplyManagedFields,
// TestApplyUpdateApplyConflictForced and TestApplyUnsetExclusivelyOwnedFields (v1.37.2).
func TestServerSideApply(t *testing.T) {
	serve(t, func(ctx context.Context, c *cluster) {
		core := c.core.CoreV1()
		apply := func(manager, body string) (*corev1.Service, error) {
			return core.Services("default").Patch(ctx, "web", types.ApplyPatchType,
				[]byte(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"`+body), metav1.PatchOptions{FieldManager: manager})
		}
		port := func(name, port string) string { return `{"name":"` + name + `","port":` + port + `,"protocol":"TCP"}` }
		must(apply("a", `,"labels":{"x":"1","y":"1"}},"spec":{"selector":{"app":"web"},"ports":[`+port("http", "80")+`]}}`))
		s := must(apply("b", `},"spec":{"ports":[`+port("https", "443")+`]}}`))
		if len(s.Spec.Ports) != 2 || len(s.ManagedFields) != 2 {
			t.Errorf("ports %+v, %d managers", s.Spec.Ports, len(s.ManagedFields))
		}
		if _, err := apply("b", `,"labels":{"x":"2"}},"spec":{"ports":[`+port("https", "443")+`]}}`); !apierrors.IsConflict(err) {
			t.Errorf("what is another's: %v", err)
		}
		s = must(apply("a", `,"labels":{"x":"1"}},"spec":{"selector":{"app":"web"},"ports":[`+port("http", "80")+`]}}`))
		if _, left := s.Labels["y"]; left || s.Labels["x"] != "1" || len(s.Spec.Ports) != 2 {
			t.Errorf("labels %v, ports %+v", s.Labels, s.Spec.Ports)
		}
	})
}

// Fields that were written before the first server-side apply have a manager too.
func TestApplyToWhatIsThere(t *testing.T) {
	serve(t, func(ctx context.Context, c *cluster) {
		core := c.core.CoreV1()
		made := must(core.ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{"a": "1"}}, metav1.CreateOptions{}))
		if made.ManagedFields != nil {
			t.Errorf("nobody has applied: %v", made.ManagedFields)
		}
		apply := func(value string, force bool) error {
			_, err := core.ConfigMaps("default").Patch(ctx, "c", types.ApplyPatchType,
				[]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"`+value+`"}}`), metav1.PatchOptions{FieldManager: "m", Force: &force})
			return err
		}
		if err := apply("2", false); !apierrors.IsConflict(err) {
			t.Errorf("another value: %v", err)
		}
		check(apply("2", true))
		if got := must(core.ConfigMaps("default").Get(ctx, "c", metav1.GetOptions{})); got.Data["a"] != "2" || got.UID != made.UID {
			t.Errorf("%+v", got)
		}
	})
}
