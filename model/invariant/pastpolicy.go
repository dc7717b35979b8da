package invariant

import (
	"slices"
	"time"

	"ipamsim/model"
)

// dated is a network's policy and since when it is in force.
type dated struct {
	at      time.Duration
	network model.Network
}

// notePolicy records the earlier policies of a network without blocks: its policy may be in an
// object, which an operator edits while pods hold addresses of the earlier policy.
func (p *Past) notePolicy(n *model.Network, at time.Duration) {
	if !p.begun {
		at = 0
	}
	if all := p.policies[n.Key]; len(all) == 0 || !slices.EqualFunc(all[len(all)-1].network.Ranges, n.Ranges, sameRange) {
		kept := *n
		kept.Ranges = slices.Clone(n.Ranges)
		p.policies[n.Key] = append(all, dated{at, kept})
	}
}

func sameRange(a, b model.Range) bool {
	return a.Prefix == b.Prefix && a.Start == b.Start && a.End == b.End && slices.Equal(a.Exclude, b.Exclude)
}

// permitted reports whether a holding is correct by a policy that its ADD may have read: the
// present one, or one that was in force until after the ADD began. Without a past the present one
// decides.
func permitted(v *View, h *holding, right func(*model.Network) bool) bool {
	if right(h.network) {
		return true
	}
	if v.Past == nil {
		return false
	}
	all := v.Past.policies[h.network.Key]
	for i := range max(0, len(all)-1) {
		if right(&all[i].network) && !gotAfter(v, h, all[i+1].at) {
			return true
		}
	}
	return false
}
