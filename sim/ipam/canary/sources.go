package canary

import "ipamsim/sim/ipam"

// Sources are this package: its bugs are the manager's.
func (a Adapter) Sources() []ipam.Source {
	return []ipam.Source{{Module: a.Upstream(), Package: "ipamsim/sim/ipam/canary"}}
}
