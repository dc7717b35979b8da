package scenarios_test

import (
	"slices"
	"testing"

	"ipamsim/scenarios"
)

// TestFixed checks that a violation that upstream has fixed must happen before the fixing version, must
// not happen from it on, and may happen in a folder of unknown version.
func TestFixed(t *testing.T) {
	e := &scenarios.Expect{Violations: []string{"refused-service"}, May: []string{"convergence"}, Fixed: "v1.35.0"}
	for upstream, want := range map[string][2][]string{
		"k8s.io/kubernetes@v1.34.1":                              {e.Violations, e.May},
		"k8s.io/kubernetes@v1.35.0":                              {nil, e.May},
		"k8s.io/kubernetes@v1.37.2":                              {nil, e.May},
		"k8s.io/kubernetes@v1.37.2 => k8s.io/kubernetes@v1.34.9": {e.Violations, e.May},
		"k8s.io/kubernetes@v1.37.2 => ../kubernetes":             {nil, {"refused-service", "convergence"}},
		"": {nil, {"refused-service", "convergence"}},
	} {
		must, may := e.With(upstream)
		if !slices.Equal(must, want[0]) || !slices.Equal(may, want[1]) {
			t.Errorf("%s: must %v, may %v", upstream, must, may)
		}
	}
	e.Fixed = ""
	if must, _ := e.With("k8s.io/kubernetes@v1.37.2"); !slices.Equal(must, e.Violations) {
		t.Errorf("never fixed: must %v", must)
	}
}
