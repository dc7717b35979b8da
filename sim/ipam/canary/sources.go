package canary

import "ipamsim/sim/ipam"

// Sources are this package: its bugs are the manager's.
func (a Adapter) Sources() []ipam.Source {
	const here = "ipamsim/sim/ipam/canary"
	return []ipam.Source{{Module: a.Upstream(), Package: here, Root: ipam.Root(here, New)}}
}
