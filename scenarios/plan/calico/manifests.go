package calico

import (
	"slices"
	"time"

	"ipamsim/scenarios/plan"
	"ipamsim/sim/cluster"
)

const (
	crdVersion  = "crd.projectcalico.org/v1"
	defaultPool = "default-ipv4-ippool"
)

// manifests as the settings say.
func (d draft) manifests(all []cluster.Object) ([]cluster.Object, error) {
	all, err := d.withPools(all)
	if err == nil {
		all, err = d.withConfig(all)
	}
	if err != nil || !d.Given("grace") {
		return all, err
	}
	return withCollector(all, d.Collect.Grace)
}

// withConfig sets IPAMConfig.
func (d draft) withConfig(all []cluster.Object) ([]cluster.Object, error) {
	fields := []string{"strictAffinity", "autoAllocateBlocks", "maxBlocksPerHost"}
	if !slices.ContainsFunc(fields, d.Given) {
		return all, nil
	}
	kind := configKind
	if slices.ContainsFunc(all, func(o cluster.Object) bool { return o.Kind == configKindV3 }) {
		kind = configKindV3
	} else if !slices.ContainsFunc(all, func(o cluster.Object) bool { return o.Kind == configKind }) {
		o, err := plan.Manifest(crdVersion, configKind, "", "default", plan.Body{"strictAffinity": false, "autoAllocateBlocks": true, "maxBlocksPerHost": 0})
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return plan.Change(all, kind, func(b plan.Body) error {
		spec := plan.Under(b, "spec")
		for _, name := range fields { // which are called like their settings
			if v, given := plan.Value[any](d.Draft, name); given {
				spec[name] = v
			}
		}
		return nil
	})
}

// withCollector sets the collector's grace period; without the node controller in
// its configuration it never takes anything for leaked.
func withCollector(all []cluster.Object, grace time.Duration) ([]cluster.Object, error) {
	all = slices.DeleteFunc(all, func(o cluster.Object) bool { return o.Kind == collectorKind })
	controllers := plan.Body{}
	if grace > 0 {
		controllers["node"] = plan.Body{"leakGracePeriod": grace.String()}
	}
	o, err := plan.Manifest("projectcalico.org/v3", collectorKind, "", "default", plan.Body{"controllers": controllers})
	return append(all, o), err
}
