package diagnosis

import (
	"net/netip"

	"ipamsim/reports/layout"
)

// Shortage is why nodes borrow that have no block of their own, and what could be done about
// it: one block of another node's is emptied and given back.
type Shortage struct {
	Homeless []string // the nodes that borrow and have no block of that family, those last that are cordoned
	Spare    []Spare  // blocks that could be had for the first of them, the best first
	Problem  int      // of Findings.Results, from 1
}

// Spare is a block that its owner could do without, or whose owner is gone.
type Spare struct {
	Block     netip.Prefix
	Owner     string // "": nobody's
	OwnerGone bool
	InUse     int // addresses that pods have
}

// write says who borrows for want of a block, and from whom one could be had.
func (m *Shortage) write(say func(string, ...any)) {
	has := "have"
	if len(m.Homeless) == 1 {
		has = "has"
	}
	say("remediation: %s %s no block, and none is free: a pod that starts there borrows again", layout.Some(m.Homeless), has)
	for i, s := range m.Spare {
		if i == shownMax && len(m.Spare) > shownMax+1 {
			say("remediation: %d more blocks to spare", len(m.Spare)-shownMax)
			break
		}
		use := layout.Count(s.InUse, "address", "addresses") + " in use"
		switch {
		case s.Owner == "":
			say("remediation: %s belongs to no node, with %s", s.Block, use)
		case s.OwnerGone:
			say("remediation: %s is of %s, which is gone, with %s", s.Block, s.Owner, use)
		default:
			say("remediation: %s has a block to spare, %s, with %s", s.Owner, s.Block, use)
		}
	}
	if len(m.Spare) == 0 {
		say("remediation: no node has a block to spare: it takes another pool, or one with smaller blocks")
	}
}
