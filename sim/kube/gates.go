package kube

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// GateError is a feature gate that cannot be set.
type GateError struct {
	Name  string
	Known []string // sorted; nil: it is known
	Err   error
}

func (e *GateError) Error() string { return e.Err.Error() }

// CheckGates reports the first gate, by name, that cannot be set: a *GateError. Those of
// whole groups of features cannot, nor the one that is off for every run (prepare).
func CheckGates(gates map[string]bool) error {
	known := utilfeature.DefaultMutableFeatureGate.GetAll()
	maps.DeleteFunc(known, func(f featuregate.Feature, _ featuregate.FeatureSpec) bool {
		return f == "AllAlpha" || f == "AllBeta" || f == features.SizeBasedListCostEstimate
	})
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		spec, ok := known[featuregate.Feature(name)]
		switch {
		case !ok:
			var names []string
			for f := range known {
				names = append(names, string(f))
			}
			slices.Sort(names)
			return &GateError{Name: name, Known: names, Err: fmt.Errorf("%q is no feature gate of Kubernetes 1.34", name)}
		case spec.LockToDefault && spec.Default != gates[name]:
			return &GateError{Name: name, Err: fmt.Errorf("%s is locked to %v in Kubernetes 1.34", name, spec.Default)}
		}
	}
	return nil
}

// SetGates sets feature gates, which CheckGates must have found right, of all that this
// process has of Kubernetes until undo is called. One run at a time may.
func SetGates(gates map[string]bool) (undo func(), err error) {
	if len(gates) == 0 { // nearly every run: setting none copies all that are known
		return func() {}, nil
	}
	before := map[string]bool{}
	for name := range gates {
		before[name] = utilfeature.DefaultFeatureGate.Enabled(featuregate.Feature(name))
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates); err != nil {
		return nil, fmt.Errorf("kube: feature gates: %w", err)
	}
	return func() {
		if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(before); err != nil {
			panic(err) // what was so can be so
		}
	}, nil
}
