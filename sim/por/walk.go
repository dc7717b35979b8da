package por

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"slices"

	"ipamsim/sim"
)

// Bounds limit the schedules. In all schedules time passes only when no message can go.
type Bounds struct {
	Preemptions int // how often a process with a message that can go has to wait for another process
	Faults      int
	Reorders    int // how often a message has to wait for a later message of its process
}

// Any as a bound of reorders means no bound.
const Any = 100

// less is b minus o.
func (b Bounds) less(o Bounds) Bounds {
	return Bounds{b.Preemptions - o.Preemptions, b.Faults - o.Faults, b.Reorders - o.Reorders}
}

// within reports whether b allows no more than o.
func (b Bounds) within(o Bounds) bool {
	return b.Preemptions <= o.Preemptions && b.Faults <= o.Faults && (o.anyOrder() || b.Reorders <= o.Reorders)
}

func (b Bounds) anyOrder() bool { return b.Reorders >= Any }

// walk visits all schedules within bounds, in memory, as far as the universe knows their steps.
// It visits schedules together that reach the same state by different orders of unrelated steps.
type walk struct {
	ctx    context.Context
	u      *universe
	bounds Bounds
	until  int64           // no faults from this epoch on; forever: always
	lead   map[string]bool // unknown continuations, by what would show them
	leads  []lead
	gaps   int // how often the walk reached an unknown continuation

	path    []int32
	moves   []Move
	sights  []sighted
	made    sum // of the steps
	sighted sum // of the sights
	pending []int32
	now     int64
	turn    int32 // process that went last; -1: none
	spent   Bounds
	steps   int
	err     error
}

// state identifies everything that the continuation depends on: the steps and sights so far, the
// last process, and the remaining bounds.
func (w *walk) state() sum {
	left := w.bounds.less(w.spent)
	rest := uint64(w.turn+1)<<48 | uint64(left.Preemptions)<<32 | uint64(left.Faults)<<16 | uint64(left.Reorders)
	return sum{w.made[0] + mix(w.sighted[0]+rest), w.made[1] + mix(w.sighted[1]^rest)}
}

// walked is the result of a walk from a state.
type walked struct {
	schedules count
	// partly is the number of the walk in which a continuation of the state was unknown; 0: none.
	partly int32
}

// lead is a prefix of a schedule whose continuation is unknown.
type lead struct {
	moves  []Move
	shows  shows
	key    string // of it
	end    []string
	random uint64 // a probe
}

// shows is what a run that follows a lead shows.
type shows int8

const (
	anything shows = iota
	aStep          // the consequences of a step
	aSight         // a sight
	anEnd
)

type way struct {
	outcome sim.Outcome
	level   int
}

// statesMax bounds the memory of a walk: about 6 GB.
const statesMax = 100_000_000

// leadsMax is the number of leads of one walk that are followed before the next walk: the run of
// one lead often covers others.
const leadsMax = 2000

// errStates ends a walk that would take too much memory.
var errStates = errors.New("more than 100 million states to walk through")

// run walks everything. The number of schedules is correct if there are no leads.
func (w *walk) run() (*big.Int, error) {
	w.lead = map[string]bool{}
	w.turn, w.now = -1, -1
	w.u.show()
	w.u.walks++
	n := w.visit()
	if w.err == nil {
		w.err = context.Cause(w.ctx)
	}
	return n.big(), w.err
}

// visit walks everything after a state. If all of it is known, later walks of the same universe,
// also with wider bounds, skip the state.
func (w *walk) visit() count {
	if w.steps++; w.steps%4096 == 0 && w.ctx.Err() != nil {
		w.err = context.Cause(w.ctx)
	}
	if w.err != nil || len(w.leads) >= leadsMax {
		w.gaps++
		return count{}
	}
	at := w.state()
	switch was, ok := w.u.walked[at]; {
	case ok && was.partly == 0:
		return was.schedules
	case ok && was.partly == w.u.walks:
		w.gaps++
		return count{}
	case !ok && len(w.u.walked) >= statesMax:
		w.err = errStates
		return count{}
	}
	gaps := w.gaps
	found := walked{schedules: w.choices()}
	if w.gaps != gaps {
		found.partly = w.u.walks
	}
	w.u.walked[at] = found
	return found.schedules
}

// choices tries all moves from the current state. If no message can go, time passes first.
func (w *walk) choices() (n count) {
	now, pending := w.now, w.pending
	defer func() { w.now, w.pending = now, pending }()
	for !slices.ContainsFunc(w.pending, w.can) {
		next, ok := w.elapse()
		if !ok {
			return count{}
		}
		if next == forever {
			w.end()
			return count{0, 1}
		}
	}
	stays := slices.ContainsFunc(w.pending, func(m int32) bool { return w.can(m) && w.u.messages[m].actor == w.turn })
	for i, m := range w.pending {
		if !w.can(m) {
			continue
		}
		cost := w.spent
		if stays && w.u.messages[m].actor != w.turn {
			cost.Preemptions++
		}
		if !w.bounds.anyOrder() && slices.ContainsFunc(w.pending[:i], func(p int32) bool { return w.can(p) && w.u.messages[p].actor == w.u.messages[m].actor }) {
			cost.Reorders++
		}
		if !cost.within(w.bounds) {
			continue
		}
		w.ways(m, func(o way) {
			c := cost
			if o.outcome.Fault() {
				c.Faults++
			}
			if c.within(w.bounds) {
				n = n.plus(w.step(i, o, c))
			}
		})
	}
	return n
}

// can reports whether the message can go now.
func (w *walk) can(m int32) bool { return w.u.messages[m].epoch <= w.now }

// ways calls do with each outcome that a message may have.
func (w *walk) ways(m int32, do func(way)) {
	o := &w.u.messages[m].offer
	for l := range max(o.Draws, 1) {
		do(way{sim.Proceed, l})
	}
	if w.spent.Faults >= w.bounds.Faults || w.now >= w.until {
		return
	}
	for f := sim.FailBefore; f <= sim.Crash; f++ {
		if !o.Hurts.Has(f) {
			continue
		}
		if o.ways(f) == 0 {
			do(way{f, 0})
		}
		for l := range o.ways(f).All() {
			do(way{f, l})
		}
	}
}

// step makes a move, walks everything after it, and reverts the move.
func (w *walk) step(i int, o way, spent Bounds) (n count) {
	msg := w.pending[i]
	key, _ := w.u.key(w.path, msg, o.outcome, o.level)
	id, ok := w.u.byKey[string(key)]
	ended := ok && w.u.ends[w.made.with(made(id))]
	if !ok || !w.u.events[id].known && !ended {
		w.unknown(aStep, string(key), w.move(i, o))
		return count{}
	}
	was := *w
	defer func() {
		w.pending, w.turn, w.spent, w.made, w.sighted = was.pending, was.turn, was.spent, was.made, was.sighted
		w.path, w.sights = w.path[:len(was.path)], w.sights[:len(was.sights)]
	}()
	m := w.move(i, o)
	w.pending = slices.Delete(slices.Clone(was.pending), i, i+1)
	w.follow(id)
	for _, a := range w.u.informed(id) {
		key, _ := w.u.informedKey(w.path, id, a)
		t, ok := w.u.byKey[string(key)]
		if ok = ok && w.u.events[t].known; ok {
			w.follow(t)
		} else if !ended {
			w.unknown(aStep, string(key), m)
			return count{}
		}
	}
	if !w.shown(id, m) {
		return count{}
	}
	w.spent = spent
	if o.outcome == sim.Proceed {
		w.turn = w.u.events[id].actor
	}
	w.moves = append(w.moves, m)
	n = w.visit()
	w.moves = w.moves[:len(w.moves)-1]
	return n
}

// follow adds an event whose consequences are known to the path.
func (w *walk) follow(id int32) {
	e := &w.u.events[id]
	next := make([]int32, 0, len(w.pending)+len(e.children))
	for _, m := range w.pending {
		if !slices.Contains(e.gone, m) {
			next = append(next, m)
		}
	}
	w.pending = append(next, e.children...)
	w.path = append(w.path, id)
	w.made = w.made.with(made(id))
}

// shown reports whether a run has shown the sight of a step.
func (w *walk) shown(id int32, m Move) bool {
	if !w.u.judges(id) {
		return true
	}
	key := w.u.sightKey(w.sights, id)
	n, ok := w.u.sights[string(key)]
	if !ok {
		w.unknown(aSight, string(key), m)
		return false
	}
	w.sights = append(w.sights, sighted{id, n})
	w.sighted = w.sighted.with(seen(n))
	return true
}

// end requests a run that ends with the same checked state if no run has shown this end.
func (w *walk) end() {
	keys := w.u.endKeys(w.path, w.sights)
	if w.u.ended(keys) {
		return
	}
	w.note(fmt.Sprint(anEnd, keys[0]), lead{moves: slices.Clone(w.moves), shows: anEnd, end: keys})
}

// unknown records a lead: a prefix after which the next step or its sight is unknown.
func (w *walk) unknown(s shows, key string, last Move) {
	w.note(fmt.Sprint(s, key), lead{moves: append(slices.Clone(w.moves), last), shows: s, key: key})
}

// note records a lead once, by what it would show.
func (w *walk) note(name string, l lead) {
	w.gaps++
	if !w.lead[name] {
		w.lead[name] = true
		w.leads = append(w.leads, l)
	}
}

// move is the move that delivers a waiting message.
func (w *walk) move(i int, o way) Move {
	m := &w.u.messages[w.pending[i]]
	nth := 0
	for _, p := range w.pending[:i] {
		if w.u.messages[p].id == m.id {
			nth++
		}
	}
	return Move{m.name, nth, o.outcome, o.level}
}

// elapse lets time pass to the next instant at which a message can go, forever if there is
// none. ok is false if that instant is unknown.
func (w *walk) elapse() (next int64, ok bool) {
	next = forever
	if len(w.pending) == 0 && w.u.ends[w.made] {
		return next, true
	}
	for _, m := range w.pending {
		next = min(next, w.u.messages[m].epoch)
	}
	ids := make([]int32, len(w.u.actors))
	for a := range ids {
		id, ok := w.u.byPause[w.u.pauseKey(w.path, int32(a))]
		if ids[a] = id; !ok {
			ids[a] = -1
			continue
		}
		for _, m := range w.u.pauses[id].late {
			if b := w.u.brought(m); b > w.now {
				next = min(next, b)
			}
		}
	}
	for _, id := range ids {
		if id < 0 || w.u.pauses[id].horizon < next {
			w.note("time "+string(pathKey(w.path)), lead{moves: slices.Clone(w.moves)})
			return 0, false
		}
	}
	if next == forever {
		return next, true
	}
	w.pending = slices.Clone(w.pending)
	for _, id := range ids {
		for _, m := range w.u.pauses[id].late {
			if w.u.brought(m) == next {
				w.pending = append(w.pending, m)
			}
		}
	}
	w.now = next
	return next, true
}

func pathKey(path []int32) []byte {
	var b []byte
	for _, id := range slices.Sorted(slices.Values(path)) {
		b = append(b, byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
	}
	return b
}

// sum identifies a set of steps without their order: two sums of 64 bits.
type sum [2]uint64

func (s sum) with(id uint64) sum {
	return sum{s[0] + mix(id+1), s[1] + mix(id*0x9e3779b97f4a7c15+0x1234567)}
}

// mix is the mixing function of splitmix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// count is a number of schedules in 128 bits; all ones: overflow.
type count struct{ hi, lo uint64 }

func (c count) plus(d count) count {
	lo, carry := bits.Add64(c.lo, d.lo, 0)
	hi, over := bits.Add64(c.hi, d.hi, carry)
	if over > 0 {
		return count{1<<64 - 1, 1<<64 - 1}
	}
	return count{hi, lo}
}

func (c count) big() *big.Int {
	n := new(big.Int).SetUint64(c.hi)
	return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(c.lo))
}
