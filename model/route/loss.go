package route

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/model/route/fib"
)

// Why says where packets end, and in which route.
func (l *Loss) Why() string {
	v := model.Violation{Facts: []model.Fact{model.NewFact("at", l.At), model.NewFact("route", OneLine(l.Route))}}
	return v.Say(Sentence(l.How, l.At == l.From && !l.Back))
}

// Sentence says how a packet ends, with the facts {at} and {route}, for
// model.Violation.Say. At the source is on the node that sends it.
func Sentence(how fib.End, atSource bool) string {
	where := "at {at}"
	if atSource {
		where = "on the node itself"
	}
	switch how {
	case fib.Unreachable:
		return "unreachable, no route for it " + where
	case fib.Looping:
		return "it loops " + where + ` by "{route}"`
	case fib.Dead:
		return `"{route}" is the way ` + where + ", and nothing answers there"
	}
	return "dropped " + where + ` by "{route}"`
}

// Patience is how long a loss counts as a delay of routing: after, while routes spread, and,
// if the path leads over a dead machine, until that machine's peers have timed out. No address
// manager can shorten that.
func (l *Loss) Patience(after time.Duration) time.Duration {
	if l.How == fib.Dead {
		return max(after, Hold)
	}
	return after
}

// OneLine is a route on one line, however many next hops it has.
func OneLine(r string) string { return strings.Join(strings.Fields(r), " ") }

// losses are the pairs of a node and a pod's address that do not reach each
// other, kept as tables change.
type losses struct {
	pairs map[netip.Addr]map[int]Loss // by the address, then the place that sends to it
	dests map[netip.Addr][]int        // places that deliver an address, sorted
	back  []*back                     // of nodes' own addresses, by place
	all   bool                        // everything must be walked again
	list  []Loss                      // sorted; nil: to be made again
}

// back is what becomes of answers to one node's own address, by the place they
// start from: the ends, as far as packets are lost.
type back struct {
	lost []verdict
}

// verdict of the ways from one place to one address.
type verdict struct {
	way        fib.Way // the first that is lost
	lost, some bool
}

func (l *losses) add(k local) {
	at, _ := slices.BinarySearch(l.dests[k.addr], k.at)
	if !slices.Contains(l.dests[k.addr], k.at) {
		l.dests[k.addr] = slices.Insert(l.dests[k.addr], at, k.at)
	}
}

func (l *losses) remove(k local) {
	if i := slices.Index(l.dests[k.addr], k.at); i >= 0 {
		l.dests[k.addr] = slices.Delete(l.dests[k.addr], i, i+1)
	}
	if len(l.dests[k.addr]) > 0 {
		return
	}
	delete(l.dests, k.addr)
	if len(l.pairs[k.addr]) > 0 {
		delete(l.pairs, k.addr)
		l.list = nil
	}
}

// Losses are the addresses of pods that nodes cannot reach now, sorted by source, then address.
// Since is when the pair was lost, whatever has dropped it since then. A node without power is in
// no loss. The list must not be changed; it is the same slice until something changes.
func (p *Plane) Losses() []Loss {
	l := &p.losses
	if l.list == nil {
		l.list = []Loss{}
		for _, from := range l.pairs {
			for _, x := range from {
				l.list = append(l.list, x)
			}
		}
		slices.SortFunc(l.list, compareLoss)
	}
	return l.list
}

// judge repeats the walks to the addresses whose routes changed.
func (p *Plane) judge() {
	l := &p.losses
	if len(p.stale) == 0 && !l.all {
		return
	}
	for i, s := range p.speakers {
		if s != nil && s.node && (l.all || p.isStale(s.addr.Addr())) {
			p.judgeBack(i)
		}
	}
	for _, a := range p.staleDests() {
		p.judgeDest(a)
	}
	clear(p.stale)
	l.all = false
}

func (p *Plane) isStale(a netip.Addr) bool {
	for dst := range p.stale {
		if dst.Contains(a) {
			return true
		}
	}
	return false
}

// staleDests are the pods' addresses to walk to again, sorted.
func (p *Plane) staleDests() []netip.Addr {
	l := &p.losses
	var out []netip.Addr
	wide := p.stale
	if !l.all {
		wide = map[netip.Prefix]bool{}
		for dst := range p.stale {
			if !dst.IsSingleIP() {
				wide[dst] = true
			} else if _, ok := l.dests[dst.Addr()]; ok {
				out = append(out, dst.Addr())
			}
		}
	}
	if l.all || len(wide) > 0 {
		for a := range l.dests {
			covered := l.all
			for dst := range wide {
				covered = covered || dst.Contains(a)
			}
			if covered {
				out = append(out, a)
			}
		}
	}
	slices.SortFunc(out, netip.Addr.Compare)
	return slices.Compact(out)
}

// judgeBack finds from where answers to a node's own address are lost. If that
// changed, every pair may have.
func (p *Plane) judgeBack(i int) {
	l := &p.losses
	for len(l.back) <= i {
		l.back = append(l.back, nil)
	}
	b := &back{lost: make([]verdict, len(p.t.Forwarders))}
	p.t.Toward(p.speakers[i].addr.Addr())
	for from, s := range p.speakers {
		if s != nil && s.node && s.up {
			b.lost[from] = p.verdict(from)
		}
	}
	if l.back[i] == nil || !slices.Equal(l.back[i].lost, b.lost) {
		l.all = true
	}
	l.back[i] = b
}

// verdict walks from a place to the address that walks were begun for.
func (p *Plane) verdict(from int) verdict {
	var v verdict
	for _, w := range p.t.Lost(from) {
		if w.End == fib.Delivered {
			v.some = true
		} else if !v.lost {
			v.lost, v.way = true, w
		}
	}
	v.some = v.some && v.lost
	return v
}

// judgeDest finds from where an address of a pod is lost.
func (p *Plane) judgeDest(to netip.Addr) {
	l := &p.losses
	on, lost := l.dests[to], l.pairs[to]
	p.t.Toward(to)
	for from, s := range p.speakers {
		if s == nil || !s.node {
			continue
		}
		old, was := lost[from]
		var v verdict
		answer := false
		if s.up && p.speakers[on[0]].up {
			if v = p.verdict(from); !v.lost {
				v, answer = l.back[from].lost[on[0]], true
			}
		}
		if !v.lost {
			if was {
				delete(lost, from)
				l.list = nil
			}
			continue
		}
		x := Loss{
			From: p.t.Forwarders[from].Name, To: to, On: p.t.Forwarders[on[0]].Name,
			At: v.way.At, How: v.way.End, Route: v.way.Route, Dst: v.way.Dst, Back: answer, Some: v.some, Since: p.now,
		}
		if was {
			x.Since = old.Since
		}
		if !was || x != old {
			if lost == nil {
				lost = map[int]Loss{}
				l.pairs[to] = lost
			}
			lost[from] = x
			l.list = nil
		}
	}
}
