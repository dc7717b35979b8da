package ipamsimtest_test

import (
	"fmt"
	"testing"
	"time"

	"ipamsim/fuzz/ipamsimtest"
	"ipamsim/fuzz/space"
)

// crowds generates scenarios of ipamsim's manager for tests, with one of its bugs.
func crowds(bug string) space.Space {
	return space.Space{Name: "canary", Draw: func(w *space.World) {
		w.Doc.Spec.IPAM = "canary"
		w.Machines(1, 2)
		w.Pace(6*time.Second, 7*time.Second)
		w.Add(map[string]any{
			"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition", "metadata": map[string]any{"name": "net1"},
			"spec": map[string]any{"config": fmt.Sprintf(`{"type": "macvlan", "ipam": {"type": "canary", "range": "10.0.0.0/%d", "bug": %q}}`, w.Between(26, 28), bug)},
		})
		w.Workloads(w.Between(3, 5), func() (map[string]string, map[string]any) {
			return map[string]string{"k8s.v1.cni.cncf.io/networks": "net1"}, nil
		})
		w.Strategy(space.Weight{Name: "timed", N: 1})
		w.Title()
	}}
}

// Generated scenarios are searched, shrunk and written like others.
func TestExploreSpace(t *testing.T) {
	found := ipamsimtest.ExploreSpace(t, Manager().With(crowds("duplicate-address")), ipamsimtest.Search{
		Runs: 10, Only: []string{"duplicate-address"}, Kinds: 1, Dir: t.TempDir(),
	})
	if len(found) != 1 || found[0].Pods != 2 || found[0].Seed != found[0].Runs {
		t.Fatalf("%+v", found)
	}
	ipamsimtest.Run(t, Manager(), found[0].File)
}

func FuzzCanary(f *testing.F) { ipamsimtest.FuzzSpace(f, Manager().With(crowds(""))) }

func ExampleExploreSpace() {
	_ = func(t *testing.T) {
		for _, f := range ipamsimtest.ExploreSpace(t, Manager().With(crowds("")), ipamsimtest.Search{Runs: 50}) {
			t.Error(f)
		}
	}
}

func ExampleFuzzSpace() {
	_ = func(f *testing.F) { ipamsimtest.FuzzSpace(f, Manager().With(crowds(""))) }
}
