package kube_test

import (
	"context"
	"testing"
	"testing/synctest"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"ipamsim/sim/kube"
)

// One run after another is served by the same handler of custom resources, each
// from its own store.
func TestDefinitionsAreKept(t *testing.T) {
	same, other := poolCRD(), poolCRD()
	digests := map[string]bool{}
	for i, crd := range []*apiextv1.CustomResourceDefinition{same, same, other, same, same} {
		run := must(store.Begin())
		synctest.Test(new(testing.T), func(*testing.T) {
			s := must(kube.New(run, []*apiextv1.CustomResourceDefinition{crd}))
			defer s.Close()
			pools := must(dynamic.NewForConfig(kube.Config(s.Direct()))).Resource(poolsGVR).Namespace("kube-system")
			ctx := context.Background()
			if _, err := pools.Get(ctx, "p", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("run %d begins with a pool: %v", i, err)
			}
			must(pools.Create(ctx, pool("p"), metav1.CreateOptions{}))
			digests[must(run.Digest())] = true
		})
		run.End()
	}
	if len(digests) != 1 {
		t.Errorf("%d different ends of the same run", len(digests))
	}
}
