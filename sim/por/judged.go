package por

import (
	"encoding/binary"
	"slices"
)

// What is judged falls into things: pods, containers, addresses. What is wrong with one can
// be seen by it, and by the things that it has been joined with: a step that touches two
// joins them, as an ADD does that gives a pod an address. Steps that touch things which
// nothing has joined may go in either order, for neither changes what is said of the other.
//
// What is judged decides nothing of what the system does. So it is no part of a step's past:
// what a judge gets to see when a step touches something is a sight, which is the step and all
// sights before it of what it touches and of what that has been joined with. The walk asks that
// each sight was shown by some run.
//
// Things are joined by what went before, and not once for all: two pods that get one address in
// different schedules are strangers in each of them. Let a schedule join things one after the
// other. The step that joins x and y has each sight of either before it in its own; from then on
// all steps that touch one of the two have one another in theirs.
//
// What only holds at rest is judged where runs end, of each thing by the sights of it and of what it
// was joined with, and by all steps that count and touch nothing; by all sights if a run ended so that
// one of its things has to be judged together with all others.

// Whole is touched by what concerns everything that is judged.
const Whole = "*"

// sighted is a sight on the way.
type sighted struct{ event, sight int32 }

// learnWhole takes in which steps of a run touch everything: they do so in every run.
func (r *Relation) learnWhole(l *Log) {
	for i := range l.Steps {
		s := &l.Steps[i]
		if d := (effect{l.Offers[s.Offer].Name, s.Outcome}); slices.Contains(s.Touches, Whole) && !r.whole[d] {
			r.whole[d] = true
			r.grown++
		}
	}
}

// touch notes what a step touches.
func (u *universe) touch(id int32, s *Step) {
	e := &u.events[id]
	if counts := s.Counts || len(s.Touches) > 0; counts && !e.counts {
		e.counts, u.dirty = true, true
	}
	for _, n := range u.numbers(s.Touches) {
		if !slices.Contains(e.touches, n) {
			e.touches, u.dirty = append(e.touches, n), true
		}
	}
}

// start takes in what is joined from the start of a run.
func (u *universe) start(l *Log) {
	for _, names := range l.Joined {
		things := u.numbers(names)
		if !slices.ContainsFunc(u.joined, func(j []int32) bool { return slices.Equal(j, things) }) {
			u.joined, u.dirty = append(u.joined, things), true
		}
	}
}

// numbers of things, without Whole.
func (u *universe) numbers(things []string) (out []int32) {
	for _, name := range things {
		if name == Whole {
			continue
		}
		n := numbered(u.things, name)
		if int(n) == len(u.with) {
			u.with = append(u.with, n)
		}
		out = append(out, n)
	}
	return out
}

// judges reports whether something is seen when a step is made.
func (u *universe) judges(id int32) bool { return u.wholly(id) || len(u.events[id].touches) > 0 }

func (u *universe) wholly(id int32) bool { return u.whole[u.events[id].kind] }

// sightKey is what is seen when a step is made after others: see sighted.
func (u *universe) sightKey(before []sighted, id int32) []byte {
	u.group(before)
	e := &u.events[id]
	u.join(e.touches)
	all := u.wholly(id)
	u.past = append(u.past[:0], id)
	for _, s := range before {
		if all || u.wholly(s.event) || len(e.touches) > 0 && slices.ContainsFunc(u.events[s.event].touches, func(t int32) bool {
			return slices.ContainsFunc(e.touches, func(x int32) bool { return u.root(x) == u.root(t) })
		}) {
			u.past = append(u.past, s.sight)
		}
	}
	return u.sorted(1)
}

// endKeys are what is seen where a schedule ends, all of it first and then by what was joined.
func (u *universe) endKeys(path []int32, before []sighted) (keys []string) {
	u.group(before)
	var counting []int32
	for _, id := range path {
		if u.events[id].counts && !u.judges(id) {
			counting = append(counting, -1-id)
		}
	}
	group := func(in func(sighted) bool) {
		u.past = append(u.past[:0], counting...)
		for _, s := range before {
			if in(s) {
				u.past = append(u.past, s.sight)
			}
		}
		keys = append(keys, string(u.sorted(0)))
	}
	group(func(sighted) bool { return true })
	var roots []int32
	for _, s := range before {
		if t := u.events[s.event].touches; len(t) > 0 && !slices.Contains(roots, u.root(t[0])) {
			roots = append(roots, u.root(t[0]))
		}
	}
	for _, r := range roots {
		group(func(s sighted) bool {
			t := u.events[s.event].touches
			return u.wholly(s.event) || len(t) > 0 && u.root(t[0]) == r
		})
	}
	return keys
}

// sorted is a key of u.past, in order but for the first ones.
func (u *universe) sorted(from int) []byte {
	slices.Sort(u.past[from:])
	b := u.buf[:0]
	for _, n := range u.past {
		b = binary.AppendVarint(b, int64(n))
	}
	u.buf = b
	return b
}

// ended reports whether runs have shown how a schedule ends.
func (u *universe) ended(keys []string) bool {
	if u.shown[keys[0]] {
		return true
	}
	return len(keys) > 1 && !slices.ContainsFunc(keys[1:], func(k string) bool { return !u.shown[k] || u.together[k] })
}

// group joins what was joined from the start and by sights.
func (u *universe) group(before []sighted) {
	for i := range u.with {
		u.with[i] = int32(i)
	}
	for _, things := range u.joined {
		u.join(things)
	}
	for _, s := range before {
		u.join(u.events[s.event].touches)
	}
}

func (u *universe) root(thing int32) int32 {
	for u.with[thing] != thing {
		thing = u.with[thing]
	}
	return thing
}

func (u *universe) join(things []int32) {
	for _, t := range things[min(1, len(things)):] {
		u.with[u.root(t)] = u.root(things[0])
	}
}

// show finds out what was seen in the runs and how they ended, as far as that is not known.
func (u *universe) show() {
	if u.dirty {
		u.sights, u.shown, u.together, u.looked, u.dirty = map[string]int32{}, map[string]bool{}, map[string]bool{}, 0, false
		u.walked = map[sum]walked{} // they are named by sights
	}
	for ; u.looked < len(u.paths); u.looked++ {
		var before []sighted
		for _, id := range u.paths[u.looked] {
			if !u.judges(id) {
				continue
			}
			before = append(before, sighted{id, numbered(u.sights, string(u.sightKey(before, id)))})
		}
		for _, k := range u.endKeys(u.paths[u.looked], before) {
			u.shown[k] = true
			if u.logs[u.looked].Together {
				u.together[k] = true
			}
		}
	}
}

// made and seen name steps and sights in a sum.
func made(event int32) uint64 { return uint64(event) }
func seen(sight int32) uint64 { return 1<<32 | uint64(sight) }
