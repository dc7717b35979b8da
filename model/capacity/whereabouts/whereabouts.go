// Package whereabouts plays Whereabouts' reference allocator in trials of
// model/capacity. Its policy is the cluster's networks.
package whereabouts

import reference "ipamsim/model/reference/whereabouts"

// Config is how Whereabouts is configured.
type Config struct {
	Rule reference.Rule // of the reconciler; "" is upstream's
}
