package invariant

import (
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
)

// Codes of HandleCount.
const (
	CountedZero   = "counted-zero"    // the handle does not count the block at all
	CountedTooFew = "counted-too-few" // it counts only some of the claimed addresses
)

// tooMany is the sentence for a handle that a call has left.
const tooMany = "handle {handle} counts {counted} addresses in block {block} after the {call} of {pod} at {at}, where {claimed} are claimed by it"

// HandleCount is an address that a DEL will not release, because it asks the
// handle in which blocks to look, or a handle that it will not delete.
//
// A handle may count too many while a call is under way, because it is counted up
// before the block is written and down after. Too few is wrong at any time but
// during a CNI call of the container itself, which may be about to undo its claim.
// Too many is wrong once a call has succeeded undisturbed, young after it: a reconciler
// that releases the same address writes block and handle one after the other.
//
// Source: libcalico-go/lib/ipam/ipam.go, assignFromExistingBlock, releaseByHandle
// (v3.31).
var HandleCount = define(Invariant{
	Name:     "handle-count",
	Severity: model.Minor,
	Phase:    Always,
	Doc:      "A handle counts every address that is claimed by it, and after a CNI call no other.",
	Kinds: []Kind{
		// The DEL releases all that the handle has in a block, if it looks into the block at
		// all, and then fails to count below zero.
		//
		// Source: libcalico-go/lib/ipam/ipam_handle.go, decrementBlock (v3.31).
		{CountedZero, "handle {handle} counts {counted} addresses in block {block}, where {claimed} are claimed by it: a DEL will not find them"},
		{CountedTooFew, "handle {handle} counts {counted} addresses in block {block}, where {claimed} are claimed by it: a DEL will not delete the handle"},
		{CountedTooMany, tooMany},
		{nothingClaimed, tooMany},
		{neverClaimed, tooMany},
	},
	Cause: CauseRule{
		Start: FromWrite, Rows: []model.RefKind{model.RefHandle},
		Identity: Identity{Code: miscounted, Function: true, Counts: true},
	},
	Decision: "nothing while the pod runs. Its DEL will not release the address, which then leaks",
}, func(v View) []finding {
	out := v.Past.overcounted()
	if allCounted(&v) {
		return out
	}
	counts := tally(&v)
	p := pools{list: v.Record.Pools}
	for i := range v.Record.Claims {
		c := &v.Record.Claims[i]
		if c.Handle == "" {
			continue
		}
		pool := p.find(c.Pool)
		if pool == nil {
			continue
		}
		n, ok := counts[share{c.Handle, pool.Range}]
		if _, busy := v.Truth.Busy[c.Container]; !ok || busy || n.counted >= n.claimed {
			continue
		}
		code := CountedTooFew
		if n.counted == 0 {
			code = CountedZero
		}
		out = append(out, finding{
			code:    code,
			objects: []model.Ref{handleName(c.Handle), model.BlockOf(pool.Range)},
			facts:   n.facts(),
		})
	}
	return out
})

// miscounted is too few or too many: the difference depends on the earlier count of the handle.
func miscounted(code string) string {
	if code == CountedZero || code == CountedTooFew {
		return CountedTooFew
	}
	return CountedTooMany
}

// allCounted is the usual answer, and needs no map for it: claims come one pool
// after the other, and handles are sorted. It may be false although all is well.
func allCounted(v *View) bool {
	here := make([]struct {
		block *model.Pool
		n     int
	}, len(v.Record.Handles))
	p := pools{list: v.Record.Pools}
	for i := range v.Record.Claims {
		c := &v.Record.Claims[i]
		if c.Handle == "" {
			continue
		}
		k, ok := slices.BinarySearchFunc(v.Record.Handles, c.Handle, func(h model.Handle, id string) int { return strings.Compare(h.ID, id) })
		b := p.find(c.Pool)
		if !ok || b == nil {
			return false
		}
		if here[k].block != b {
			here[k].block, here[k].n = b, 0
		}
		here[k].n++
		if !slices.ContainsFunc(v.Record.Handles[k].Counts, func(h model.HandleCount) bool { return h.Block == b.Range && h.Count >= here[k].n }) {
			return false
		}
	}
	return true
}

// share is the part of a handle in one block.
type share struct {
	handle string
	block  netip.Prefix
}

type shareCount struct{ counted, claimed int }

func (n shareCount) facts() []model.Fact {
	return []model.Fact{model.NewFact("counted", n.counted), model.NewFact("claimed", n.claimed)}
}

// tally compares handles with claims. It is nil if there are no handles.
func tally(v *View) map[share]shareCount {
	var m map[share]shareCount
	p := pools{list: v.Record.Pools}
	for i := range v.Record.Claims {
		c := &v.Record.Claims[i]
		if c.Handle == "" {
			continue
		}
		if m == nil {
			m = make(map[share]shareCount, len(v.Record.Claims))
		}
		if pool := p.find(c.Pool); pool != nil {
			n := m[share{c.Handle, pool.Range}]
			n.claimed++
			m[share{c.Handle, pool.Range}] = n
		}
	}
	for i := range v.Record.Handles {
		h := &v.Record.Handles[i]
		if m == nil {
			m = make(map[share]shareCount, len(v.Record.Handles))
		}
		for _, c := range h.Counts {
			n := m[share{h.ID, c.Block}]
			n.counted += c.Count
			m[share{h.ID, c.Block}] = n
		}
	}
	return m
}
