package por

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"ipamsim/sim"
)

// universe contains all that the runs so far have shown: the steps, each with its past and its
// consequences. Two runs that reach a step with the same past share the step, whatever the order
// of their other steps.
type universe struct {
	rel     *Relation
	learned int // facts of the relation when the universe was built
	instant time.Duration

	actors   []sim.ActorID
	actorOf  map[sim.ActorID]int32
	names    map[Name]int32
	messages []message
	byOrigin map[origin]int32
	kinds    []kind
	whole    []bool // by kind: see Relation.whole
	kindOf   map[kind]int32
	hearers  [][]int32 // by kind; nil: not asked yet
	parts    [][]part  // by two kinds, the later step first: see partsIn
	events   []event
	byKey    map[string]int32
	pauses   []pause // messages that timers of a process send
	byPause  map[string]int32
	ends     map[sum]bool // sets of steps after which a run ended immediately
	things   map[string]int32
	joined   [][]int32        // things, from the start
	with     []int32          // by thing, for sightKey
	sights   map[string]int32 // that runs have shown: see sighted
	shown    map[string]bool  // ends of runs: see endKeys
	together map[string]bool  // those in which all things are checked together
	walked   map[sum]walked
	walks    int32 // number of walks
	looked   int   // number of logs that are in sights and shown
	dirty    bool  // more things are checked than when sights and shown were computed
	logs     []*Log
	paths    [][]int32 // the events of each log
	buf      []byte
	past     []int32
	had      []bool // by process, for key
	texts    map[string]int32
	states   []written
	moving   [][]bool
	fresh    bool // a new process: older logs must be read again
}

// origin identifies a message across runs.
type origin struct {
	cause int32 // the step after which it was sent; -1-n: pause n
	name  int32
	nth   int32 // index among the messages of that name with this cause
	epoch int64 // when a timer sent it; -1 if a step caused it
}

type message struct {
	name  Name
	id    int32 // of the name
	cause int32 // as in origin
	actor int32
	epoch int64 // it can go from then on
	offer Offer
	kinds [sim.Crash + 1]int32 // by outcome, plus one; 0: not asked yet
}

// event is a step with its past. The delivery of a write to an informed process is a separate
// event: see kind.
type event struct {
	message  int32 // for the delivery of a write: the writer's
	outcome  sim.Outcome
	level    int
	kind     int32
	actor    int32
	touches  []int32
	counts   bool // checked state changed, possibly state that is checked only at the end
	wrote    []written
	all      bool // wrote is complete
	known    bool // children and gone are known
	children []int32
	gone     []int32
	log, at  int // where it first occurred: the log, and the length of the path before it
}

// written is the state in which a step left an object, as numbers of texts.
type written struct{ object, state, times int32 }

// pause contains the messages that timers of a process send while nothing else affects it.
type pause struct {
	late    []int32 // messages, by epoch
	horizon int64   // late is complete up to and including this epoch
	log, at int
}

const forever = math.MaxInt64

// errSame is wrapped by the errors of runs that differ after the same past.
var errSame = errors.New("something but the schedule decides")

func newUniverse(rel *Relation, instant time.Duration, logs []*Log) *universe {
	u := &universe{
		rel: rel, instant: instant, actorOf: map[sim.ActorID]int32{}, names: map[Name]int32{}, byOrigin: map[origin]int32{},
		kindOf: map[kind]int32{}, byKey: map[string]int32{}, byPause: map[string]int32{}, ends: map[sum]bool{}, texts: map[string]int32{}, things: map[string]int32{}, dirty: true,
	}
	for _, l := range logs {
		u.meet(l)
	}
	for _, a := range u.actors {
		row := make([]bool, len(u.actors))
		for i, b := range u.actors {
			row[i] = a == b || rel.moving(a, b)
		}
		u.moving = append(u.moving, row)
	}
	u.fresh, u.learned = false, rel.Learned()
	return u
}

// build reads all logs, again from the start whenever something is learned from them.
func build(rel *Relation, instant time.Duration, logs []*Log) (*universe, error) {
	for {
		u := newUniverse(rel, instant, logs)
		before := rel.Learned()
		for _, l := range logs {
			err := u.add(l)
			if rel.Learned() != before {
				break
			}
			if err != nil {
				return nil, err
			}
		}
		if rel.Learned() == before {
			return u, nil
		}
	}
}

// meet adds the processes of a log, and the facts of the relation that it shows.
func (u *universe) meet(l *Log) {
	for i := range l.Offers {
		o := &l.Offers[i]
		if _, ok := u.actorOf[o.Actor]; !ok {
			u.actorOf[o.Actor] = int32(len(u.actors))
			u.actors = append(u.actors, o.Actor)
			u.had = append(u.had, false)
			u.fresh = true
		}
		if o.Kind == sim.Event || o.Kind == sim.Watch {
			u.rel.learnHears(o)
		}
	}
	u.rel.learnDeaf(l)
	u.rel.learnWhole(l)
}

// epochOf is the instant at which a message sent at t can go.
func (u *universe) epochOf(t time.Duration) int64 {
	if t == 0 {
		return 0
	}
	return int64(t/u.instant) + 1
}

// name is the number of a message's name.
func (u *universe) name(n Name) int32 { return numbered(u.names, n) }

func (u *universe) kindID(k kind) int32 {
	id := numbered(u.kindOf, k)
	if int(id) == len(u.kinds) {
		u.kinds = append(u.kinds, k)
		u.whole = append(u.whole, !k.informed && u.rel.whole[k.effect])
	}
	return id
}

// numbered returns the number of a key and assigns the next one to a new key.
func numbered[K comparable](in map[K]int32, k K) int32 {
	n, ok := in[k]
	if !ok {
		n = int32(len(in))
		in[k] = n
	}
	return n
}

// partsIn is how a step of kind k depends on earlier steps, by their kind.
func (u *universe) partsIn(k int32) []part {
	for int(k) >= len(u.parts) {
		u.parts = append(u.parts, nil)
	}
	for a := len(u.parts[k]); a < len(u.kinds); a++ {
		u.parts[k] = append(u.parts[k], u.rel.part(&u.kinds[a], &u.kinds[k]))
	}
	return u.parts[k]
}

// written are the objects that a step wrote.
func (u *universe) written(s *Step) (out []written) {
	for _, w := range s.Wrote {
		out = append(out, written{object: numbered(u.texts, w.Object), state: numbered(u.texts, w.State)})
	}
	return out
}

func (u *universe) kindFor(m *message, o sim.Outcome) int32 {
	if m.kinds[o] == 0 {
		m.kinds[o] = 1 + u.kindID(kind{effect: effect{m.name, o}, resource: m.offer.Resource, path: m.offer.Path})
	}
	return m.kinds[o] - 1
}

// key is the key of a step: its message and outcome, the last step that it depends on of every
// process, and the state of the objects that it requests from a server.
func (u *universe) key(path []int32, msg int32, o sim.Outcome, level int) ([]byte, int32) {
	m := &u.messages[msg]
	k := u.kindFor(m, o)
	b := binary.AppendVarint(u.buf[:0], int64(msg))
	b = append(b, byte(o))
	b = binary.AppendVarint(b, int64(level))
	return u.since(b, path, k, m.cause), k
}

// since adds the past of a step to its key.
func (u *universe) since(b []byte, path []int32, k, cause int32) []byte {
	u.past, u.states = u.past[:0], u.states[:0]
	clear(u.had)
	parts := u.partsIn(k)
	for _, id := range slices.Backward(path) {
		e := &u.events[id]
		p := parts[e.kind]
		if p == none && id != cause {
			continue
		}
		if p == byState && e.all {
			u.left(e.wrote)
		}
		if !u.had[e.actor] && (p == whole || p == byState && !e.all || id == cause) {
			u.had[e.actor] = true
			u.past = append(u.past, id)
		}
	}
	slices.Sort(u.past)
	for _, id := range u.past {
		b = binary.AppendVarint(b, int64(id))
	}
	slices.SortFunc(u.states, func(x, y written) int { return int(x.object - y.object) })
	for _, w := range u.states {
		b = binary.AppendVarint(b, -1-int64(w.object))
		b = binary.AppendVarint(b, int64(w.state))
		b = binary.AppendVarint(b, int64(w.times))
	}
	u.buf = b
	return b
}

// left adds the objects of a step to states. It goes backwards: the first entry of an object is
// its last write, and later ones only increase the number of writes.
func (u *universe) left(wrote []written) {
	for i := len(wrote) - 1; i >= 0; i-- {
		w := wrote[i]
		at := slices.IndexFunc(u.states, func(s written) bool { return s.object == w.object })
		if at < 0 {
			at = len(u.states)
			u.states = append(u.states, w)
		}
		u.states[at].times++
	}
}

// informed returns the processes that are informed of the writes of a step.
func (u *universe) informed(step int32) []int32 {
	e := &u.events[step]
	if e.all && len(e.wrote) == 0 {
		return nil
	}
	k := e.kind
	for int(k) >= len(u.hearers) {
		u.hearers = append(u.hearers, nil)
	}
	if u.hearers[k] == nil {
		u.hearers[k] = []int32{}
		for a, name := range u.actors {
			if what := &u.kinds[k]; what.writes() && what.Actor != name && u.rel.informs(name, what.resource, what.path) {
				u.hearers[k] = append(u.hearers[k], int32(a))
			}
		}
	}
	return u.hearers[k]
}

// informedKey is the key of the event that delivers the latest step to a process. If the written
// state is known, the key contains only what the process receives, and the time. The writer's
// past is not part of it.
func (u *universe) informedKey(path []int32, step, actor int32) ([]byte, int32) {
	k := u.kindID(kind{effect: effect{Name: Name{Actor: u.actors[actor]}}, informed: true})
	b := binary.AppendVarint(u.buf[:0], int64(-1-actor))
	e := &u.events[step]
	if len(e.wrote) == 0 || u.rel.vague[u.kinds[e.kind].effect] {
		return u.since(b, path, k, step), k
	}
	m := &u.messages[e.message]
	b = binary.AppendVarint(b, int64(m.id))
	b = binary.AppendVarint(b, m.epoch)
	b = append(b, byte(e.outcome))
	for _, w := range e.wrote {
		b = binary.AppendVarint(b, int64(w.object))
		b = binary.AppendVarint(b, int64(w.state))
	}
	return u.since(b, path, k, -1), k
}

// pauseKey is the key of a pause: the process, and the last step of each process that affects it.
func (u *universe) pauseKey(path []int32, actor int32) string {
	u.past = u.past[:0]
	clear(u.had)
	for _, id := range slices.Backward(path) {
		e := &u.events[id]
		a := e.actor
		if a != actor && u.kinds[e.kind].informed {
			continue
		}
		if !u.had[a] && u.moving[actor][a] {
			u.past = append(u.past, id)
		}
		u.had[a] = true
	}
	slices.Sort(u.past)
	b := binary.AppendVarint(u.buf[:0], int64(actor))
	for _, id := range u.past {
		b = binary.AppendVarint(b, int64(id))
	}
	u.buf = b
	return string(b)
}

// stale reports whether more was learned since the universe was built. It must then be rebuilt.
func (u *universe) stale() bool { return u.fresh || u.rel.Learned() != u.learned }

// add reads a log.
func (u *universe) add(l *Log) error {
	if u.meet(l); u.stale() {
		return nil
	}
	r := &reading{u: u, l: l, n: len(u.logs), msgs: make([]int32, len(l.Offers)), where: make([]int, len(l.Steps))}
	u.logs = append(u.logs, l)
	u.paths = append(u.paths, nil)
	u.start(l)
	return r.read()
}

// differ learns from two runs in which a step or a pause had different consequences after the
// same past. The cause is a step that occurs in only one of the runs. The first suspects are
// steps of the processes that continued differently, or of processes that affect these; if that
// teaches nothing new, all such steps are suspects.
func (u *universe) differ(actor int32, moved []int32, log1, at1, log2, at2 int, what string) error {
	a, b := u.paths[log1][:at1], u.paths[log2][:at2]
	learned := false
	one := func(these, those []int32, blamed func(int32) bool) {
		for _, id := range these {
			by := u.events[id].actor
			if !slices.Contains(those, id) && blamed(by) && u.rel.learnMoves(u.actors[actor], u.actors[by]) {
				learned = true
			}
		}
	}
	both := func(blamed func(int32) bool) {
		one(a, b, blamed)
		one(b, a, blamed)
	}
	both(func(by int32) bool {
		return slices.ContainsFunc(moved, func(m int32) bool { return m == by || u.rel.moving(u.actors[m], u.actors[by]) })
	})
	if !learned {
		both(func(int32) bool { return true })
	}
	if !learned && !u.swapped(a, b) {
		return fmt.Errorf("%w: %s", errSame, what)
	}
	return nil
}

// swapped learns from steps that touch the same things in different orders. Their order matters
// if the checker itself starts a process, as it does for an address that two sandboxes have.
func (u *universe) swapped(a, b []int32) (learned bool) {
	for i, x := range a {
		at := slices.Index(b, x)
		for _, y := range a[i+1:] {
			e, f := &u.events[x], &u.events[y]
			common := u.wholly(x) && u.judges(y) || u.wholly(y) && u.judges(x) || slices.ContainsFunc(e.touches, func(t int32) bool { return slices.Contains(f.touches, t) })
			if before := slices.Index(b, y); common && before >= 0 && before < at && u.rel.learnMoves(u.actors[e.actor], u.actors[f.actor]) {
				learned = true
			}
		}
	}
	return learned
}
