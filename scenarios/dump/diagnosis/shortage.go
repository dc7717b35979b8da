package diagnosis

import (
	"net/netip"

	"ipamsim/reports/layout"
)

// Shortage explains why nodes without a block borrow. The remedy empties a block of another
// node and releases it.
type Shortage struct {
	Homeless []string // the nodes that borrow and have no block of the family, cordoned ones last
	Spare    []Spare  // blocks that could be released for the first of them, the best first
	Problem  int      // its number in Findings.Results, from 1
}

// Spare is a block that its owner could release, or whose owner is deleted.
type Spare struct {
	Block     netip.Prefix
	Owner     string // "": no node
	OwnerGone bool
	InUse     int // addresses that pods have
}

// write prints the nodes that have no block, and the blocks that could be released for them.
func (m *Shortage) write(say func(string, ...any)) {
	has := "have"
	if len(m.Homeless) == 1 {
		has = "has"
	}
	say("remediation: %s %s no block, and none is free: a pod that starts there borrows again", layout.Some(m.Homeless), has)
	for i, s := range m.Spare {
		if i == shownMax && len(m.Spare) > shownMax+1 {
			say("remediation: %d more spare blocks", len(m.Spare)-shownMax)
			break
		}
		use := layout.Count(s.InUse, "address", "addresses") + " in use"
		switch {
		case s.Owner == "":
			say("remediation: %s belongs to no node; %s", s.Block, use)
		case s.OwnerGone:
			say("remediation: %s belongs to the deleted node %s; %s", s.Block, s.Owner, use)
		default:
			say("remediation: %s has a spare block, %s; %s", s.Owner, s.Block, use)
		}
	}
	if len(m.Spare) == 0 {
		say("remediation: no node has a spare block: add a pool, or one with smaller blocks")
	}
}
