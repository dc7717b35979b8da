package diagnosis

import (
	semver "k8s.io/apimachinery/pkg/util/version"

	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/sim/ipam"
)

// Differences returns how the cluster's version differs from the simulated one. If newer is
// true, the cluster's version is the later one and its changes are not listed.
func Differences(managers scenarios.Managers, v scenarios.Version) (all []dump.Difference, newer bool) {
	found, err := semver.ParseGeneric(v.Found)
	if err != nil {
		return nil, false
	}
	if here, err := semver.ParseGeneric(managers.Simulated(v.Program)); err == nil && here.LessThan(found) {
		return nil, true
	}
	i, ok := ipam.Part[*dump.Importer](managers.Find(v.Program))
	if !ok {
		return nil, false
	}
	for _, d := range i.Differences {
		if since, err := semver.ParseGeneric(d.Since); err == nil && found.LessThan(since) {
			all = append(all, d)
		}
	}
	return all, false
}
