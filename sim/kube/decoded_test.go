package kube

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/kubernetes/pkg/apis/core"

	corev1 "k8s.io/api/core/v1"
)

func storedPod(t *testing.T, name string) []byte {
	t.Helper()
	b, err := runtime.Encode(stored(corev1.SchemeGroupVersion), &core.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"app": "web"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Every reader gets the same object as from the real decoder, and its own copy.
func TestDecoded(t *testing.T) {
	upstream := etcd3.NewDefaultDecoder(stored(corev1.SchemeGroupVersion), storage.APIObjectVersioner{})
	d := newDecoded(upstream)
	read := func(b []byte, rev int64) *core.Pod {
		t.Helper()
		want, got := &core.Pod{}, &core.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "left over"}}
		if err := upstream.Decode(b, want, rev); err != nil {
			t.Fatal(err)
		}
		if err := d.Decode(b, got, rev); err != nil {
			t.Fatal(err)
		}
		item, err := d.DecodeListItem(context.Background(), b, uint64(rev), func() runtime.Object { return &core.Pod{} })
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []runtime.Object{got, item} {
			if diff := cmp.Diff(want, g); diff != "" {
				t.Errorf("revision %d (-upstream +decoded):\n%s", rev, diff)
			}
		}
		item.(*core.Pod).Labels["app"] = "changed by a reader of the list"
		return got
	}
	a, b := storedPod(t, "a"), storedPod(t, "b")
	for range 3 {
		read(a, 5).Labels["app"] = "changed by a reader"
		read(b, 5) // a transaction of two
		read(a, 6)
	}
	for rev := range int64(3 * decodedMax) {
		read(a, rev)
	}
	if n := len(d.now) + len(d.old); n > 2*decodedMax {
		t.Errorf("%d readings are kept", n)
	}
	if err := d.Decode([]byte("k8s\x00nonsense"), &core.Pod{}, 7); err == nil {
		t.Error("nonsense was decoded")
	}
}
