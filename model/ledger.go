package model

import (
	"net/netip"
	"slices"
)

// Change is a row of the record that was added, changed or removed: a claim, a reservation, an
// affinity, a pool, a handle, a node port that is marked as allocated.
type Change struct {
	Step int     // the step after which it was observed; 0: it existed before the first
	Row  RefKind // RefAddress for a claim, RefReservation, RefBlock for an affinity, RefPool, RefHandle, RefNodePort
	Refs []Ref   // objects of the row, before and after, sorted
	Came bool    // it was not there before
	Gone bool    // it was removed

	Counts []HandleCount // of a handle, after
}

// Names reports whether the row concerns one of these objects.
func (c *Change) Names(refs ...Ref) bool {
	return slices.ContainsFunc(refs, func(r Ref) bool { return slices.Contains(c.Refs, r) })
}

// Ledger is what became of the record: which step changed what.
type Ledger struct {
	Changes []Change // by step; of one step by kind of row

	last  Snapshot
	begun bool
}

// Note compares the record after a step with the record before.
func (l *Ledger) Note(step int, now Snapshot) {
	was := l.last
	if !l.begun { // the first record existed before the run
		step, l.begun = 0, true
	}
	l.last = now
	pools := poolRefs(was.Pools, now.Pools)
	write := func(row RefKind, came, gone bool, refs []Ref) {
		refs = slices.DeleteFunc(refs, func(r Ref) bool { return r.Name == "" || r.Name == "/" })
		slices.SortFunc(refs, Ref.Compare)
		l.Changes = append(l.Changes, Change{Step: step, Row: row, Refs: slices.Compact(refs), Came: came, Gone: gone})
	}
	differences(was.Pools, now.Pools, poolKey, func(a, b *Pool) bool { return *a == *b }, func(a, b *Pool) {
		write(RefPool, a == nil, b == nil, both(a, b, poolIs))
	})
	differences(was.Affinities, now.Affinities, affinityKey, func(a, b *Affinity) bool { return *a == *b }, func(a, b *Affinity) {
		write(RefBlock, a == nil, b == nil, both(a, b, affinityIs))
	})
	differences(was.Claims, now.Claims, claimKey, sameClaim, func(a, b *Claim) {
		write(RefAddress, a == nil, b == nil, both(a, b, func(c *Claim) []Ref { return append(claimIs(c), pools[c.Pool]...) }))
	})
	differences(was.Reservations, now.Reservations, reservationKey, func(a, b *Reservation) bool { return *a == *b }, func(a, b *Reservation) {
		write(RefReservation, a == nil, b == nil, both(a, b, reservationIs))
	})
	differences(was.Handles, now.Handles, handleKey, sameHandle, func(a, b *Handle) {
		write(RefHandle, a == nil, b == nil, both(a, b, handleIs))
		if b != nil {
			l.Changes[len(l.Changes)-1].Counts = b.Counts
		}
	})
	differences(ports(was.Services), ports(now.Services), func(p *int) int { return *p }, func(a, b *int) bool { return *a == *b }, func(a, b *int) {
		write(RefNodePort, a == nil, b == nil, both(a, b, portIs))
	})
}

// Last is the index of the last change, up to a step, of a row of one of these kinds that concerns
// one of refs; -1 if there is none. Without kinds all count.
func (l *Ledger) Last(step int, refs []Ref, rows ...RefKind) int {
	return l.LastOf(step, func(c *Change) bool {
		return (len(rows) == 0 || slices.Contains(rows, c.Row)) && c.Names(refs...)
	})
}

// LastOfBoth is the same of a row of one of these kinds that is about one of refs and one
// of others; -1 if either is empty.
func (l *Ledger) LastOfBoth(step int, refs, others []Ref, rows ...RefKind) int {
	return l.LastOf(step, func(c *Change) bool {
		return (len(rows) == 0 || slices.Contains(rows, c.Row)) && c.Names(refs...) && c.Names(others...)
	})
}

// LastOf is the index of the last change, up to a step, that satisfies is; -1 if there is none.
func (l *Ledger) LastOf(step int, is func(*Change) bool) int {
	if l == nil {
		return -1
	}
	for i := len(l.Changes) - 1; i >= 0; i-- {
		if c := &l.Changes[i]; c.Step <= step && is(c) {
			return i
		}
	}
	return -1
}

// Overcounted is the position of the change by which a handle came to count more addresses
// of a block than are claimed by it, and has done since, up to a step; -1 if it does not.
func (l *Ledger) Overcounted(step int, handle, block Ref) int {
	counted, claimed, since := 0, 0, -1
	for i := range l.Changes {
		c := &l.Changes[i]
		if c.Step > step {
			break
		}
		switch {
		case !c.Names(handle) || !c.Names(block):
			continue
		case c.Row == RefHandle:
			counted = 0
			for _, n := range c.Counts {
				if BlockOf(n.Block) == block {
					counted += n.Count
				}
			}
		case c.Row == RefAddress && c.Came:
			claimed++
		case c.Row == RefAddress && c.Gone:
			claimed--
		}
		if counted <= claimed {
			since = -1
		} else if since < 0 {
			since = i
		}
	}
	return since
}

func poolRefs(lists ...[]Pool) map[string][]Ref {
	out := map[string][]Ref{}
	for _, pools := range lists {
		for i := range pools {
			out[pools[i].Name] = []Ref{BlockOf(pools[i].Range)}
		}
	}
	return out
}

func poolKey(p *Pool) string { return p.Name }
func poolIs(p *Pool) []Ref {
	return []Ref{{RefPool, p.Name}, BlockOf(p.Range), {RefNode, p.Node}}
}

func affinityKey(a *Affinity) Affinity { return Affinity{Block: a.Block, Node: a.Node} }
func affinityIs(a *Affinity) []Ref     { return []Ref{BlockOf(a.Block), {RefNode, a.Node}} }

type addressIn struct {
	pool string
	addr netip.Addr
}

func claimKey(c *Claim) addressIn { return addressIn{c.Pool, c.Addr} }
func claimIs(c *Claim) []Ref {
	return []Ref{AddressOf(c.Addr), PodOf(c.Pod), {RefContainer, c.Container}, {RefHandle, c.Handle}, {RefPool, c.Pool}, {RefNode, c.Node}}
}

// sameClaim ignores the revision: a change of another claim in the same object is not a change of
// this claim.
func sameClaim(a, b *Claim) bool {
	x := *a
	x.Revision = b.Revision
	return x == *b
}

func reservationKey(r *Reservation) string { return r.Name }
func reservationIs(r *Reservation) []Ref {
	return []Ref{AddressOf(r.Addr), PodOf(r.Pod), {RefReservation, r.Name}}
}

func handleKey(h *Handle) string   { return h.ID }
func sameHandle(a, b *Handle) bool { return a.ID == b.ID && slices.Equal(a.Counts, b.Counts) }
func handleIs(h *Handle) (refs []Ref) {
	refs = []Ref{{RefHandle, h.ID}}
	for _, c := range h.Counts {
		refs = append(refs, BlockOf(c.Block))
	}
	return refs
}

func ports(s *Services) []int {
	if s == nil {
		return nil
	}
	return s.Ports
}
func portIs(p *int) []Ref { return []Ref{NodePortOf(*p)} }

// both are the objects of a row before and after; either may be nil.
func both[T any](a, b *T, is func(*T) []Ref) (refs []Ref) {
	if a != nil {
		refs = is(a)
	}
	if b != nil {
		refs = append(refs, is(b)...)
	}
	return refs
}

// differences calls each for the rows that were added (was is nil), changed, or removed (now is
// nil), first those of now in order. Keys are unique in each list. Usually the lists differ little,
// so only the elements between the first and the last difference are compared by key.
func differences[T any, K comparable](was, now []T, key func(*T) K, same func(a, b *T) bool, each func(was, now *T)) {
	for len(was) > 0 && len(now) > 0 && same(&was[0], &now[0]) {
		was, now = was[1:], now[1:]
	}
	for len(was) > 0 && len(now) > 0 && same(&was[len(was)-1], &now[len(now)-1]) {
		was, now = was[:len(was)-1], now[:len(now)-1]
	}
	if len(was) == 0 && len(now) == 0 {
		return
	}
	old := make(map[K]*T, len(was))
	for i := range was {
		old[key(&was[i])] = &was[i]
	}
	for i := range now {
		k := key(&now[i])
		if o := old[k]; o == nil || !same(o, &now[i]) {
			each(o, &now[i])
		}
		delete(old, k)
	}
	for i := range was {
		if old[key(&was[i])] != nil {
			each(&was[i], nil)
		}
	}
}
