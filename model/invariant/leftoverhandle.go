package invariant

import (
	"strings"
	"time"

	"ipamsim/model"
)

// Codes of LeftoverHandle.
const (
	emptyHandle    = "empty"            // it counts nothing, and is there
	nothingClaimed = "nothing-claimed"  // the handle has no claim in a block in which it counts addresses
	CountedTooMany = "counted-too-many" // only some of it is
)

// LeftoverHandle is a handle that counts addresses without claims. It is never cleaned up: a DEL
// that finds no address does not decrement it.
//
// An ADD under way increments its handle before it claims the address, and a call that has just
// released an address is about to decrement its handle.
//
// Source: libcalico-go/lib/ipam/ipam.go, releaseByHandle ("block has no addresses
// with the given handle", v3.31).
var LeftoverHandle = define(Invariant{
	Name:     "leftover-handle",
	Severity: model.Minor,
	Phase:    Quiescent,
	Doc:      "Once all is calm, no handle counts addresses that are not claimed by it.",
	Kinds: []Kind{
		{emptyHandle, "handle {handle} counts no address in any block"},
		{nothingClaimed, "handle {handle} counts {counted} addresses in block {block}, where {claimed} are claimed by it"},
		{CountedTooMany, "handle {handle} counts {counted} addresses in block {block}, where {claimed} are claimed by it"},
	},
	Cause: CauseRule{
		Start: FromRelease, Rows: []model.RefKind{model.RefHandle},
		Identity: Identity{Same: [2]string{"handle-count", CountedTooMany}, Code: noCode, Function: true, Counts: true},
	},
	Follows:  []string{"handle-count"},
	Decision: "nothing: the handle holds no address",
	Keep:     KeepCollectors,
}, func(v View) []finding {
	if underWay(&v) || v.Past.moving(v.Truth.At) {
		return nil
	}
	var out []finding
	counts := tally(&v)
	for i := range v.Record.Handles {
		h := &v.Record.Handles[i]
		if inCall(&v, h.ID) {
			continue
		}
		if len(h.Counts) == 0 {
			out = append(out, finding{code: emptyHandle, objects: []model.Ref{handleName(h.ID)}})
		}
		for _, c := range h.Counts {
			n := counts[share{h.ID, c.Block}]
			if n.counted <= n.claimed {
				continue
			}
			code := CountedTooMany
			if n.claimed == 0 {
				code = nothingClaimed
			}
			out = append(out, finding{
				code:    code,
				objects: []model.Ref{handleName(h.ID), model.BlockOf(c.Block)},
				facts:   n.facts(),
			})
		}
	}
	return out
})

// moving reports whether an address was claimed or released a moment ago. Without a past it
// was not.
func (p *Past) moving(at time.Duration) bool {
	return p != nil && p.moved > 0 && at-p.moved < requestsMax
}

// requestsMax is longer than the two requests that a release sends one after the other.
const requestsMax = 2 * time.Second

// inCall reports whether a handle is of a container for which a call is under way.
func inCall(v *View, handle string) bool {
	_, container, _ := strings.Cut(handle, ".")
	_, ok := v.Truth.Busy[container]
	return ok
}
