package kube

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/features"

	"ipamsim/sim"
)

// gates are client-go's feature gates of the calling process: those of the release that its
// program is built with (sim.Built, "0.33"), or, if none is recorded, of the compiled release.
// ipamsim compiles one client-go into all programs, but a controller built with 0.34 lists and
// then watches where a controller built with 0.35 gets both in one stream (WatchListClient).
type gates struct{ features.Gates }

// Enabled reports whether a feature is on in the calling process's release of client-go.
func (g gates) Enabled(f features.Feature) bool {
	if release := sim.Built(); release != "" {
		return defaultOf(f, release)
	}
	return g.Gates.Enabled(f)
}

// defaultOf returns the default of a feature in a release of client-go, whose minor version is
// that of Kubernetes. A feature that the release does not have is off.
func defaultOf(f features.Feature, release string) bool {
	at := version.MustParseGeneric(release)
	on := false
	for _, spec := range specs()[f] {
		if spec.Version.Minor() <= at.Minor() {
			on = spec.Default
		}
	}
	return on
}

// specs are client-go's feature defaults, oldest first.
var specs = sync.OnceValue(func() map[features.Feature]features.VersionedSpecs {
	r := recorded{}
	if err := features.AddVersionedFeaturesToExistingFeatureGates(r); err != nil {
		panic(err) // recorded returns no error
	}
	return r
})

// recorded is a features.VersionedRegistry that records the registered features.
type recorded map[features.Feature]features.VersionedSpecs

// AddVersioned records features with their versions in order.
func (r recorded) AddVersioned(in map[features.Feature]features.VersionedSpecs) error {
	for f, s := range in {
		s = slices.Clone(s)
		slices.SortFunc(s, func(a, b features.FeatureSpec) int {
			n, _ := a.Version.Compare(b.Version.String()) // parsed by client-go itself
			return n
		})
		in[f] = s
	}
	maps.Copy(r, in)
	return nil
}
