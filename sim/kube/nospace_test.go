package kube_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/kube"
	"ipamsim/sim/kube/answer"
	"ipamsim/sim/way"
)

// An etcd whose database is full refuses writes that would make it grow, from every client, with
// its own error text. Reads and deletions continue.
func TestNoSpace(t *testing.T) {
	const full = "etcdserver: mvcc: database space exceeded"
	serve(t, func(ctx context.Context, c *cluster) {
		pods, now := c.core.CoreV1().Pods("default"), int64(0)
		old := must(pods.Create(ctx, pod("old", ""), metav1.CreateOptions{}))
		must(c.core.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{}))
		c.NoSpace(true)
		_, err := pods.Create(ctx, pod("web", "a"), metav1.CreateOptions{})
		if s := new(apierrors.StatusError); !errors.As(err, &s) || s.ErrStatus.Code != 500 || err.Error() != full {
			t.Errorf("creation: %v", err)
		}
		if _, err := pods.Update(ctx, old, metav1.UpdateOptions{}); err != nil {
			t.Errorf("an update that changes nothing: %v", err)
		}
		old.Labels = map[string]string{"a": "b"}
		if _, err := pods.Update(ctx, old, metav1.UpdateOptions{}); err == nil || err.Error() != full {
			t.Errorf("update: %v", err)
		}
		etcd := c.run.Client()
		if _, err := etcd.Put(ctx, "/a", "b"); !errors.Is(err, rpctypes.ErrNoSpace) {
			t.Errorf("another client's put: %v", err)
		}
		if _, err := etcd.Grant(ctx, 10); !errors.Is(err, rpctypes.ErrNoSpace) {
			t.Errorf("another client's lease: %v", err)
		}
		if _, err := pods.Get(ctx, "old", metav1.GetOptions{}); err != nil {
			t.Errorf("read: %v", err)
		}
		if err := pods.Delete(ctx, "old", metav1.DeleteOptions{GracePeriodSeconds: &now}); err == nil || err.Error() != full {
			t.Errorf("deletion of a pod, which is marked first: %v", err)
		}
		if err := c.core.CoreV1().Nodes().Delete(ctx, "n", metav1.DeleteOptions{}); err != nil {
			t.Errorf("deletion: %v", err)
		}
		c.NoSpace(false)
		must(pods.Create(ctx, pod("web", "a"), metav1.CreateOptions{}))
	})
}

// What the table has for a write that etcd gives up is what the handlers make of etcd's error.
func TestEtcdTimeout(t *testing.T) {
	serve(t, func(ctx context.Context, c *cluster) {
		c.run.Refuse = func(request any) error {
			if _, writes := request.(*pb.TxnRequest); writes {
				return rpctypes.ErrGRPCTimeout
			}
			return nil
		}
		_, err := c.core.CoreV1().Pods("default").Create(ctx, pod("web", "a"), metav1.CreateOptions{})
		s := new(apierrors.StatusError)
		if !errors.As(err, &s) {
			t.Fatalf("%v (%T)", err, err)
		}
		want := kube.StatusOf(answer.Of(answer.API, answer.Write, way.EtcdTimeout))
		s.ErrStatus.TypeMeta = want.TypeMeta
		if d := cmp.Diff(*want, s.ErrStatus); d != "" {
			t.Errorf("(-table +handlers):\n%s", d)
		}
	})
}
