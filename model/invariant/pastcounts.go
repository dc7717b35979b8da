package invariant

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
)

// neverClaimed is the code of an address that a call has counted or reserved and never claimed. An
// address that is no longer claimed has nothingClaimed or CountedTooMany.
const neverClaimed = "never-claimed"

// loose is a call that has left more counted than is claimed, or more reserved.
type loose struct {
	call     *model.Event
	reserved bool
	since    time.Duration
}

// noteCounts records the handles and reservations that a successful call has left.
func (c *calls) noteCounts(v *View, e *model.Event) {
	if e.Err != "" || e.Disturbed {
		return
	}
	if len(c.over(v, e)) > 0 {
		c.loose = append(c.loose, &loose{e, false, v.Truth.At})
	}
	if len(c.unguarding(v, e)) > 0 {
		c.loose = append(c.loose, &loose{e, true, v.Truth.At})
	}
}

// noteLoose judges what calls have left once it has stood for young, and no call was at
// work on it, of the same container, or for reservations, which are by pod, of the same pod;
// after a DEL once no other DEL is to come.
func (c *calls) noteLoose(v *View) {
	c.loose = slices.DeleteFunc(c.loose, func(l *loose) bool { return c.settled(v, l) })
}

// settled checks one of them, and reports whether the check is complete.
func (c *calls) settled(v *View, l *loose) bool {
	var left []finding
	if l.reserved {
		for _, r := range c.unguarding(v, l.call) {
			left = append(left, overreserved(r, c.containers[l.call.Container], l.call))
		}
	} else {
		left = c.over(v, l.call)
	}
	if l.call.Kind == model.DelEnd && v.deletes(l.call.Container) {
		l.since = v.Truth.At
	}
	for id, b := range v.Truth.Busy {
		if id == l.call.Container || l.reserved && b.Pod == l.call.Pod {
			l.since = v.Truth.At
		}
	}
	switch {
	case v.Truth.At-l.since <= young:
		return len(left) == 0
	case l.reserved:
		c.overreserved = append(c.overreserved, left...)
	default:
		c.overcounts = append(c.overcounts, left...)
	}
	return true
}

// unguarding are the reservations of a call that have no claim.
func (c *calls) unguarding(v *View, e *model.Event) []*model.Reservation {
	return slices.DeleteFunc(c.reservedByCall(v, e), func(r *model.Reservation) bool { return guards(v, r) })
}

// over are the counts of the handles of a call's container beyond their claims.
func (c *calls) over(v *View, e *model.Event) (out []finding) {
	x := c.containers[e.Container]
	for i := range v.Record.Handles {
		h := &v.Record.Handles[i]
		if _, id, _ := strings.Cut(h.ID, "."); id != e.Container || x == nil {
			continue
		}
		for _, n := range h.Counts {
			claimed := claimedBy(v, h.ID, n.Block)
			if n.Count <= claimed {
				continue
			}
			code := CountedTooMany
			switch had := slices.ContainsFunc(x.had, func(a netip.Addr) bool { return n.Block.Contains(a) }); {
			case !had:
				code = neverClaimed
			case claimed == 0:
				code = nothingClaimed
			}
			out = append(out, finding{
				code:    code,
				objects: []model.Ref{handleName(h.ID), model.BlockOf(n.Block)},
				facts: append(shareCount{n.Count, claimed}.facts(),
					model.NewFact("call", callName(e)), model.NewFact("pod", model.PodOf(e.Pod)), model.NewFact("at", e.At)),
			})
		}
	}
	return out
}

// claimedBy counts the claims of a handle in a block.
func claimedBy(v *View, handle string, block netip.Prefix) (n int) {
	for i := range v.Record.Claims {
		if c := &v.Record.Claims[i]; c.Handle == handle && block.Contains(c.Addr) {
			n++
		}
	}
	return n
}

// overcounted are the handles that count too many after a call; without a past, none
// is known.
func (p *Past) overcounted() []finding {
	if p == nil {
		return nil
	}
	return slices.Clip(p.calls.overcounts)
}
