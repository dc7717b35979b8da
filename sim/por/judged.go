package por

import (
	"encoding/binary"
	"slices"
)

// The checked state consists of things: pods, containers, addresses. A violation of one thing
// depends only on that thing and on the things joined with it. A step that touches two things
// joins them, as an ADD does that gives a pod an address. Steps that touch things that are not
// joined may go in either order, because neither changes the result of a check of the other.
//
// The checks do not influence the system, so they are not part of a step's past. What a check
// can observe when a step touches something is a sight: the step, and all earlier sights of the
// things that it touches and of the things joined with these. The walk requires that some run
// has shown each sight.
//
// Things are joined by the earlier steps of a schedule, not in all schedules: two pods that get
// one address in different schedules are not joined in either. Why this suffices: the step that
// joins x and y has all earlier sights of both in its own sight. From then on each step that
// touches x or y has the earlier ones in its sight, so their order is fixed.
//
// Invariants that hold only at rest are checked at the ends of runs: for each thing by its sights
// and those of the things joined with it, and by all steps that count and touch nothing; by all
// sights if the end of a run requires that one thing is checked together with all others.

// Whole is the thing that is touched by a step that concerns everything checked.
const Whole = "*"

// sighted is a sight of the current schedule.
type sighted struct{ event, sight int32 }

// learnWhole learns which steps of a run touch everything. They do so in every run.
func (r *Relation) learnWhole(l *Log) {
	for i := range l.Steps {
		s := &l.Steps[i]
		if d := (effect{l.Offers[s.Offer].Name, s.Outcome}); slices.Contains(s.Touches, Whole) && !r.whole[d] {
			r.whole[d] = true
			r.grown++
		}
	}
}

// touch records the things that a step touches.
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

// start adds the things that are joined from the start of a run.
func (u *universe) start(l *Log) {
	for _, names := range l.Joined {
		things := u.numbers(names)
		if !slices.ContainsFunc(u.joined, func(j []int32) bool { return slices.Equal(j, things) }) {
			u.joined, u.dirty = append(u.joined, things), true
		}
	}
}

// numbers are the numbers of things, without Whole.
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

// judges reports whether a step changes checked state.
func (u *universe) judges(id int32) bool { return u.wholly(id) || len(u.events[id].touches) > 0 }

func (u *universe) wholly(id int32) bool { return u.whole[u.events[id].kind] }

// sightKey is the key of the sight of a step after earlier sights.
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

// endKeys are the keys of the end of a schedule: first that of all sights, then one for each
// group of joined things.
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

// sorted is a key of u.past, sorted except for the first elements.
func (u *universe) sorted(from int) []byte {
	slices.Sort(u.past[from:])
	b := u.buf[:0]
	for _, n := range u.past {
		b = binary.AppendVarint(b, int64(n))
	}
	u.buf = b
	return b
}

// ended reports whether runs have shown the end of a schedule.
func (u *universe) ended(keys []string) bool {
	if u.shown[keys[0]] {
		return true
	}
	return len(keys) > 1 && !slices.ContainsFunc(keys[1:], func(k string) bool { return !u.shown[k] || u.together[k] })
}

// group computes the groups of things that are joined from the start and by sights.
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

// show adds the sights and ends of the logs that it has not read yet.
func (u *universe) show() {
	if u.dirty {
		u.sights, u.shown, u.together, u.looked, u.dirty = map[string]int32{}, map[string]bool{}, map[string]bool{}, 0, false
		u.walked = map[sum]walked{} // its keys contain sights
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

// made and seen are the numbers of steps and sights in a sum.
func made(event int32) uint64 { return uint64(event) }
func seen(sight int32) uint64 { return 1<<32 | uint64(sight) }
