package kube

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/version"
)

// GateError is a feature gate that cannot be set.
type GateError struct {
	Name  string
	Known []string // sorted; nil: the gate exists
	Err   error
}

func (e *GateError) Error() string { return e.Err.Error() }

// CheckGates reports the first gate, by name, that cannot be set, as a *GateError. Gates of
// whole feature groups cannot be set, nor the gate that is off in every run (prepare).
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
			return &GateError{Name: name, Known: names, Err: fmt.Errorf("%q is no feature gate of Kubernetes %s", name, version.DefaultKubeBinaryVersion)}
		case spec.LockToDefault && spec.Default != gates[name]:
			return &GateError{Name: name, Err: fmt.Errorf("%s is locked to %v in Kubernetes %s", name, spec.Default, version.DefaultKubeBinaryVersion)}
		}
	}
	return nil
}

// Gates are the feature gates that a run has set.
type Gates struct {
	set, before map[string]bool
	consulted   sync.Map // featuregate.Feature, only those that are set
}

// recorder replaces the process's feature gates while some are set.
type recorder struct {
	featuregate.FeatureGate
	gates *Gates
}

// Enabled records that a gate was consulted.
func (r recorder) Enabled(f featuregate.Feature) bool {
	if _, set := r.gates.set[string(f)]; set {
		r.gates.consulted.Store(f, true)
	}
	return r.FeatureGate.Enabled(f)
}

// SetGates sets feature gates, checked by CheckGates, for all Kubernetes code of this process
// until Undo is called. Only one run at a time may call it.
func SetGates(gates map[string]bool) (*Gates, error) {
	g := &Gates{set: gates, before: map[string]bool{}}
	if len(gates) == 0 { // nearly every run: SetGates would copy all gates
		return g, nil
	}
	for name := range gates {
		g.before[name] = utilfeature.DefaultFeatureGate.Enabled(featuregate.Feature(name))
	}
	prepare() // otherwise upstream logs a warning for each deprecated gate
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates); err != nil {
		return nil, fmt.Errorf("kube: feature gates: %w", err)
	}
	utilfeature.DefaultFeatureGate = recorder{utilfeature.DefaultMutableFeatureGate, g}
	return g, nil
}

// Unused returns the gates that were not consulted so far, sorted: they affect nothing in the
// run.
func (g *Gates) Unused() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(g.set)) {
		if _, consulted := g.consulted.Load(featuregate.Feature(name)); !consulted {
			out = append(out, name)
		}
	}
	return out
}

// Undo restores the gates.
func (g *Gates) Undo() {
	if len(g.set) == 0 {
		return
	}
	utilfeature.DefaultFeatureGate = utilfeature.DefaultMutableFeatureGate
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(g.before); err != nil {
		panic(err) // the former values are valid
	}
}
