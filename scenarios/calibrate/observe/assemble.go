package observe

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Fine is how close looks have to be for what lasts minutes to be seen by them.
const Fine = 15 * time.Minute

// History is what all files say together. It may be asked once.
func (c *Collector) History() *History {
	c.apply()
	h := &History{Scans: instants(c.scans), NodeScans: instants(c.nodeSeen), Windows: c.windows, Restarts: c.restarts, RestartsOf: c.restartsOf}
	for _, key := range slices.Sorted(maps.Keys(c.named)) {
		for _, s := range c.named[key] {
			if s.host {
				c.counts[NoteHostNetwork]++
				continue
			}
			p := c.podOf(s, h.Scans)
			if !p.Owner.Known {
				c.counts[NoteOwnerUnknown]++
			}
			if p.Node == "" {
				c.counts[NoteNodeUnknown]++
			}
			if p.Born.IsZero() {
				c.counts[NoteWithoutBirth]++
			}
			h.Pods = append(h.Pods, p)
		}
	}
	for _, w := range c.logs {
		h.Logged += w.Length() // one after the other, as logs are
	}
	sortPods(h.Pods)
	for _, name := range slices.Sorted(maps.Keys(c.nodes)) {
		h.Nodes = append(h.Nodes, c.nodeOf(c.nodes[name], h))
	}
	if len(c.maxPods) == 1 {
		for n := range c.maxPods {
			h.MaxPods = n
		}
	}
	h.Notes = c.notes()
	return h
}

func (c *Collector) notes() (out []Note) {
	for _, k := range slices.Sorted(maps.Keys(c.counts)) {
		out = append(out, Note{What: k, Count: c.counts[k]})
	}
	for _, k := range slices.Sorted(maps.Keys(c.names)) {
		for _, name := range c.names[k] {
			out = append(out, Note{What: k, Name: name})
		}
	}
	slices.SortStableFunc(out, func(a, b Note) int { return cmp.Compare(a.What, b.What) })
	return out
}

// apply applies the statements of logs in the order of time, for any order of files.
func (c *Collector) apply() {
	slices.SortStableFunc(c.logged, func(a, b statement) int { return a.at.Compare(b.at) })
	for i := range c.logged {
		x := &c.logged[i]
		s := c.meant(x)
		if s == nil {
			var err error
			if s, err = c.add(x.from, x.uid, x.namespace, x.name); err != nil {
				return // more than podsMax: the rest says nothing new
			}
		}
		if x.owner.Known {
			s.owner, s.host = x.owner, s.host || x.host
		}
		if x.node != "" {
			s.node = x.node
		}
		if s.born.IsZero() {
			s.born = x.born
		}
		switch {
		case x.over:
			s.finished = x.at
		case x.ends:
			s.died = later(s.died, x.at)
		case s.born.IsZero() || x.at.Before(s.born):
			s.born, s.watched = x.at, true
		default:
			s.watched = s.watched || near(s.born, x.at)
		}
	}
	c.logged = nil
}

// meant is the pod that a statement is about, nil for one that is new.
func (c *Collector) meant(x *statement) *podRecord {
	if s := c.byUID[x.uid]; s != nil && x.uid != "" {
		return s
	}
	all := c.named[x.namespace+"/"+x.name]
	for i := len(all) - 1; i >= 0; i-- {
		s := all[i]
		if x.uid != "" && s.uid != "" {
			continue
		}
		switch {
		case !x.ends && !s.born.IsZero() && near(s.born, x.at):
			return s
		case x.ends && !s.born.After(x.at) && (s.died.IsZero() || x.at.Sub(s.died) <= grace):
			return s
		}
	}
	return nil
}

// grace is how long a pod may take to end after its deletion was requested, if a log shows both: ten
// minutes are what long drains allow.
const grace = 10 * time.Minute

// podOf puts together what was seen of a pod.
func (c *Collector) podOf(s *podRecord, scans []time.Time) Pod {
	p := Pod{Namespace: s.namespace, Name: s.name, Node: s.node, Owner: s.owner, HostNetwork: s.host, Born: s.born, Last: s.last}
	covered := func(t time.Time) (Window, bool) {
		for _, w := range c.logs {
			if !t.IsZero() && !t.Before(w.From) && !t.After(w.To) {
				return w, true
			}
		}
		return Window{}, false
	}
	if w, ok := covered(s.born); ok && s.watched {
		p.Entered, p.Last = s.born, later(p.Last, w.To)
	} else if p.Entered = s.first; !s.first.IsZero() {
		if w, ok := covered(s.last); ok {
			p.Last = later(p.Last, w.To)
		}
	}
	end := s.died
	if !s.finished.IsZero() && (end.IsZero() || s.finished.Before(end)) {
		end = s.finished
	}
	switch next, _ := slices.BinarySearchFunc(scans, p.Last.Add(1), time.Time.Compare); {
	case !end.IsZero():
		p.Ended, p.Last, p.Gone = true, end, end
		if !s.finished.IsZero() && !p.Entered.IsZero() && p.Entered.After(end) {
			p.Entered = lingered(s, scans)
		}
	case !s.overBy.IsZero():
		p.Ended, p.Gone = true, s.overBy
		i, _ := slices.BinarySearchFunc(scans, s.overBy, time.Time.Compare)
		if p.Last = p.Born; i > 0 {
			p.Last = later(scans[i-1], p.Born)
		}
		if !p.Entered.Before(s.overBy) {
			p.Entered = lingered(s, scans)
		}
	case next < len(scans) && !p.Last.IsZero():
		p.Ended, p.Gone = true, scans[next]
	}
	return p
}

// lingered returns the time since which the end of a pod would be known, for a pod first seen after
// its end: since its birth, if its object stays for longer than the time until the next scan; zero if
// unknown.
func lingered(s *podRecord, scans []time.Time) time.Time {
	i, _ := slices.BinarySearchFunc(scans, s.first, time.Time.Compare)
	if i > 0 && !s.born.Before(scans[i-1]) && scans[i].Sub(scans[i-1]) <= Fine {
		return s.born
	}
	return time.Time{}
}

// nodeOf puts together what was seen of a node.
func (c *Collector) nodeOf(s *nodeRecord, h *History) Node {
	n := Node{Name: s.name, Born: s.born, First: s.first, Last: s.last}
	if n.First.IsZero() {
		n.First = s.died
	}
	switch next, _ := slices.BinarySearchFunc(h.NodeScans, s.last.Add(1), time.Time.Compare); {
	case !s.died.IsZero() && !s.died.Before(s.last):
		n.Ended, n.Last, n.Gone = true, s.died, s.died
	case next < len(h.NodeScans) && !s.last.IsZero():
		n.Ended, n.Gone = true, h.NodeScans[next]
	default:
		n.Last = later(n.Last, h.Windows[Nodes].To) // its end is unknown
	}
	until := n.Last
	n.Cordons, n.Silences = s.cordons.spans(earlier(until, h.Windows[Cordons].To)), s.silences.spans(earlier(until, h.Windows[Ready].To))
	return n
}

// spans returns the times during which the state holds. Between two scans it changes halfway.
func (all changes) spans(until time.Time) (out []Span) {
	slices.SortStableFunc(all, func(a, b change) int { return a.at.Compare(b.at) })
	for i, c := range all {
		at := c.at
		if c.scan && i > 0 {
			at = all[i-1].at.Add(c.at.Sub(all[i-1].at) / 2)
		}
		open := len(out) > 0 && !out[len(out)-1].Over
		switch {
		case c.on && !open:
			out = append(out, Span{From: at, Began: i > 0 || !c.scan})
		case !c.on && open:
			out[len(out)-1].To, out[len(out)-1].Over = at, true
		}
	}
	if n := len(out); n > 0 && !out[n-1].Over {
		out[n-1].To = later(until, out[n-1].From)
	}
	return out
}
