package por

import (
	"fmt"
	"slices"

	"ipamsim/sim"
)

// reading is one log that is read into a universe.
type reading struct {
	u        *universe
	l        *Log
	n        int // of the log
	msgs     []int32
	path     []int32
	where    []int   // in the path: each step
	informed []int32 // the events after the last step: the processes that it informed
	next     int     // the first offer that is not read
	epoch    int64   // of the last step
}

// read goes through the run step by step.
func (r *reading) read() error {
	l, u := r.l, r.u
	for i := range l.Steps {
		if i > 0 {
			r.inform(i - 1)
		}
		r.offers(i)
		if i > 0 {
			if err := r.followed(i - 1); err != nil {
				return err
			}
		}
		s := &l.Steps[i]
		if now := int64(s.At / u.instant); now > r.epoch || i == 0 {
			r.epoch = now
			if err := r.pauses(now); err != nil {
				return err
			}
		}
		msg := r.msgs[s.Offer]
		key, k := u.key(r.path, msg, s.Outcome, s.Level)
		r.where[i] = len(r.path)
		wrote := u.written(s)
		id := r.push(key, event{message: msg, outcome: s.Outcome, level: s.Level, kind: k, actor: u.messages[msg].actor, wrote: wrote, all: s.All})
		u.touch(id, s)
		if e := &u.events[id]; !slices.Equal(e.wrote, wrote) || e.all != s.All {
			u.rel.learnVague(u.kinds[k].effect)
		}
	}
	if len(l.Steps) == 0 || l.Cut != "" {
		return nil
	}
	if last := l.Steps[len(l.Steps)-1].At; l.End <= last+2 {
		var all sum
		for _, id := range r.path {
			all = all.with(made(id))
		}
		u.ends[all] = true
		return nil // the run ended before it showed what followed
	}
	r.inform(len(l.Steps) - 1)
	r.offers(len(l.Steps))
	if err := r.followed(len(l.Steps) - 1); err != nil {
		return err
	}
	return r.pauses(forever)
}

// push adds the next event to the path.
func (r *reading) push(key []byte, e event) int32 {
	id, ok := r.u.byKey[string(key)]
	if !ok {
		id = int32(len(r.u.events))
		r.u.byKey[string(key)] = id
		e.log, e.at = r.n, len(r.path)
		r.u.events = append(r.u.events, e)
	}
	r.path = append(r.path, id)
	r.u.paths[r.n] = r.path
	return id
}

// inform adds an event for each process that is informed of the last step's write.
func (r *reading) inform(step int) {
	r.informed = r.informed[:0]
	by := r.path[r.where[step]]
	for _, a := range r.u.informed(by) {
		key, k := r.u.informedKey(r.path, by, a)
		r.informed = append(r.informed, r.push(key, event{message: r.u.events[by].message, kind: k, actor: a}))
	}
}

// cause is the event that adds messages of a process or withdraws them after a step.
func (r *reading) cause(step int, actor int32) int32 {
	for _, id := range r.informed {
		if r.u.events[id].actor == actor {
			return id
		}
	}
	return r.path[r.where[step]]
}

// offers reads the messages that came before step i.
func (r *reading) offers(i int) {
	u, l := r.u, r.l
	var nths map[origin]int32
	for ; r.next < len(l.Offers) && l.Offers[r.next].Born == i; r.next++ {
		o := &l.Offers[r.next]
		at := origin{name: u.name(o.Name), epoch: -1}
		can := r.epoch
		if i > 0 && o.Sent <= l.Steps[i-1].At+1 {
			at.cause = r.cause(i-1, u.actorOf[o.Actor])
			r.moved(i-1, u.actorOf[o.Actor], o.Kind)
		} else {
			at.cause, at.epoch = -1-u.pauseOf(u.pauseKey(r.path, u.actorOf[o.Actor])), u.epochOf(o.Sent)
			can = at.epoch
		}
		if o.Due > o.Sent {
			can = max(can, u.epochOf(o.Due))
		}
		if nths == nil {
			nths = map[origin]int32{}
		}
		n := nths[at]
		nths[at]++
		at.nth = n
		id, ok := u.byOrigin[at]
		if !ok {
			id = int32(len(u.messages))
			u.byOrigin[at] = id
			u.messages = append(u.messages, message{name: o.Name, id: at.name, cause: at.cause, actor: u.actorOf[o.Actor], epoch: can, offer: *o})
		}
		r.msgs[r.next] = id
	}
}

// moved learns that a step of one process made another process send a message or withdraw one
// without an event from a server.
func (r *reading) moved(step int, actor int32, kind sim.OpKind) {
	if by := r.u.events[r.path[r.where[step]]].actor; by != actor && kind != sim.Event {
		r.u.rel.learnMoves(r.u.actors[by], r.u.actors[actor])
	}
}

// followed records which messages a step added and withdrew, or compares them with the known
// ones.
func (r *reading) followed(step int) error {
	for i := range r.l.Offers {
		if o := &r.l.Offers[i]; o.Gone == step+1 {
			r.moved(step, r.u.actorOf[o.Actor], sim.Local)
		}
	}
	for at := r.where[step]; at < len(r.path); at++ {
		if err := r.brought(step, at); err != nil {
			return err
		}
	}
	return nil
}

// brought records which messages an event of a step added and withdrew.
func (r *reading) brought(step, at int) error {
	u, id := r.u, r.path[at]
	var came, gone []int32
	for i := range r.l.Offers {
		o := &r.l.Offers[i]
		if i < r.next && o.Born == step+1 && u.messages[r.msgs[i]].cause == id {
			came = append(came, r.msgs[i])
		}
		if o.Gone == step+1 && r.cause(step, u.actorOf[o.Actor]) == id {
			gone = append(gone, r.msgs[i])
		}
	}
	slices.Sort(gone)
	e := &u.events[id]
	if !e.known {
		e.known, e.children, e.gone = true, came, gone
		e.log, e.at = r.n, at
		return nil
	}
	a, b := slices.Sorted(slices.Values(e.children)), slices.Sorted(slices.Values(came))
	if slices.Equal(a, b) && slices.Equal(e.gone, gone) {
		return nil
	}
	m, moved := &u.messages[e.message], append(u.unlike(a, b), u.unlike(e.gone, gone)...)
	return u.differ(e.actor, moved, e.log, e.at, r.n, at, fmt.Sprintf("%s %s brings %s to %s and ends %s, or %s and ends %s", m.name.Actor, m.name.About,
		u.list(e.children), u.actors[e.actor], u.list(e.gone), u.list(came), u.list(gone)))
}

// unlike are the processes of messages that are in only one of the lists.
func (u *universe) unlike(a, b []int32) (out []int32) {
	for _, id := range slices.Concat(a, b) {
		if !slices.Contains(a, id) || !slices.Contains(b, id) {
			out = append(out, u.messages[id].actor)
		}
	}
	return out
}

func (u *universe) list(ids []int32) (out []string) {
	for _, id := range ids {
		out = append(out, string(u.messages[id].name.Actor)+" "+u.messages[id].name.About)
	}
	return out
}

func (u *universe) pauseOf(key string) int32 {
	id, ok := u.byPause[key]
	if !ok {
		id = int32(len(u.pauses))
		u.byPause[key] = id
		u.pauses = append(u.pauses, pause{horizon: -1, log: -1})
	}
	return id
}

// pauses records which messages timers of every process sent up to an epoch, or compares them
// with the known ones.
func (r *reading) pauses(until int64) error {
	u := r.u
	for a := range u.actors {
		id := u.pauseOf(u.pauseKey(r.path, int32(a)))
		var late []int32
		for i := range r.next {
			if m := r.msgs[i]; u.messages[m].cause == -1-id {
				late = append(late, m)
			}
		}
		p := &u.pauses[id]
		common := min(p.horizon, until)
		if p.log >= 0 && !slices.Equal(u.upto(p.late, common), u.upto(late, common)) {
			return u.differ(int32(a), nil, p.log, p.at, r.n, len(r.path), fmt.Sprintf("time brings %s to %s, or %s", u.list(p.late), u.actors[a], u.list(late)))
		}
		if until > p.horizon {
			p.late, p.horizon, p.log, p.at = late, until, r.n, len(r.path)
		}
	}
	return nil
}

// upto are the messages that timers send up to an epoch.
func (u *universe) upto(late []int32, epoch int64) (out []int32) {
	for _, m := range late {
		if u.brought(m) <= epoch {
			out = append(out, m)
		}
	}
	slices.Sort(out)
	return out
}

// brought is the epoch in which a timer sends a message.
func (u *universe) brought(m int32) int64 { return u.epochOf(u.messages[m].offer.Sent) }
