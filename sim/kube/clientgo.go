package kube

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/features"

	"ipamsim/sim"
)

// gates are client-go's feature gates of the calling process: those of the release that
// its program is built with (sim.Built, "0.33"), or, if none is recorded, of the one that is
// compiled in. ipamsim compiles one client-go into all programs, and a controller built with
// 0.34 lists and then watches where one built with 0.35 gets both in one stream
// (WatchListClient).
type gates struct{ features.Gates }

// Enabled reports whether the calling process's release of client-go has a feature on.
func (g gates) Enabled(f features.Feature) bool {
	if release := sim.Built(); release != "" {
		return defaultOf(f, release)
	}
	return g.Gates.Enabled(f)
}

// defaultOf is what a feature is without a flag in a release of client-go, whose minor
// version is that of Kubernetes. A feature that the release does not know is off.
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

// specs are the features that client-go has by default, oldest first.
var specs = sync.OnceValue(func() map[features.Feature]features.VersionedSpecs {
	r := recorded{}
	if err := features.AddVersionedFeaturesToExistingFeatureGates(r); err != nil {
		panic(err) // ours returns none
	}
	return r
})

// recorded is a features.VersionedRegistry that keeps what it is given.
type recorded map[features.Feature]features.VersionedSpecs

// AddVersioned keeps features with their versions in order.
func (r recorded) AddVersioned(in map[features.Feature]features.VersionedSpecs) error {
	for f, s := range in {
		s = slices.Clone(s)
		slices.SortFunc(s, func(a, b features.FeatureSpec) int {
			n, _ := a.Version.Compare(b.Version.String()) // client-go's own parse
			return n
		})
		in[f] = s
	}
	maps.Copy(r, in)
	return nil
}
