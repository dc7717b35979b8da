package kube_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"ipamsim/sim"
	"ipamsim/sim/etcd"
	"ipamsim/sim/etcd/etcdtest"
	"ipamsim/sim/kube"
)

var store *etcd.Server

func TestMain(m *testing.M) { etcdtest.Main(m, &store) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// cluster is an API server with clients that pass no gate.
type cluster struct {
	*kube.Server
	run   *etcd.Run
	core  kubernetes.Interface
	pools dynamic.ResourceInterface
}

// serve gives f a fresh API server in a bubble, without a kernel.
func serve(t testing.TB, f func(ctx context.Context, c *cluster)) (digest string) {
	t.Helper()
	run, err := store.Begin()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(new(testing.T), func(*testing.T) {
		c := open(run)
		f(context.Background(), c)
		digest = must(run.Digest())
		c.Close()
	})
	run.End()
	return digest
}

func open(run *etcd.Run) *cluster {
	s := must(kube.New(run, []*apiextv1.CustomResourceDefinition{poolCRD()}))
	conf := kube.Config(s.Direct())
	return &cluster{Server: s, run: run, core: must(kubernetes.NewForConfig(conf)),
		pools: must(dynamic.NewForConfig(conf)).Resource(poolsGVR).Namespace("kube-system")}
}

var poolsGVR = schema.GroupVersionResource{Group: "whereabouts.cni.cncf.io", Version: "v1alpha1", Resource: "ippools"}

// poolCRD is Whereabouts' own.
func poolCRD() *apiextv1.CustomResourceDefinition {
	return must(kube.ParseCRD(must(os.ReadFile("../ipam/whereabouts/upstream/crds/whereabouts.cni.cncf.io_ippools.yaml"))))
}

func pool(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "whereabouts.cni.cncf.io/v1alpha1", "kind": "IPPool", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"range": "10.0.0.0/24", "allocations": map[string]any{}},
	}}
}

func pod(name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "busybox"}}},
	}
}

// claim is a request as Whereabouts sends it: an allocation, on condition that the pool has not
// been written since it was read.
func claim(revision string, n int) []byte {
	return fmt.Appendf(nil, `[{"op":"test","path":"/metadata/resourceVersion","value":%q},
		{"op":"add","path":"/spec/allocations/%d","value":{"id":"c","podref":"default/p"}}]`, revision, n)
}

func configOf(c *cluster, g *sim.Gate) *rest.Config { return kube.Config(c.Transport(g)) }
