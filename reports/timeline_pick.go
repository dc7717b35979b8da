package reports

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/kube"
)

// entry is one line of a timeline.
type entry struct {
	step   int
	at     time.Duration
	actor  string // process, "" for what happens to the cluster
	lane   string // whose column: a pod's key or a reconciler's actor
	mark   byte   // r reads, w writes, x hurt or refused, * a fact
	text   string // clean, without the actor
	fact   bool   // the text has a subject of its own
	turn   string // a turning point, to be marked: "out", "away", "hurt"
	weight int    // what is left out first when there is no room; 0: not shown
	object string // what a message read or wrote
}

// What a line is worth. The story is told by what changed the fate of the
// address; then by what those who changed it had read; the rest is scenery.
const (
	fate     = 100 // handed out, taken away, hurt
	cause    = 80  // other writes of the pods concerned, what people and machines did
	glimpse  = 70  // what a writer had read before
	attempt  = 50  // writes that were refused
	scenery  = 30
	unshown  = 0
	laneless = ""
)

// pick lists what belongs to the story of a violation, in order.
func pick(r *Report, s *subject) []*entry {
	var all []*entry
	if r.Trace != nil {
		for _, st := range r.Trace.Steps {
			if st.Step <= s.v.Step {
				all = append(all, s.message(r, st))
			}
		}
		s.glimpses(all)
	}
	if r.History != nil {
		holders := map[string]string{}
		for _, e := range r.History.Events {
			if e.Step > s.v.Step {
				break
			}
			all = append(all, s.event(e, holders))
		}
	}
	all = append(all, s.earlier(r, all)...)
	s.passes(all)
	thin(all)
	all = slices.DeleteFunc(all, func(e *entry) bool { return e.weight == unshown })
	slices.SortStableFunc(all, func(a, b *entry) int { return cmp.Compare(a.step, b.step) }) // messages before the facts they caused
	return all
}

var takesAway = regexp.MustCompile(`(?i)\b(removes?|releases?|frees|deletes|drops)\b`)

// message weighs one step of the trace.
func (s *subject) message(r *Report, st *sim.Step) *entry {
	op := st.Choice.Op
	e := &entry{step: st.Step, at: st.At, actor: string(op.Actor), mark: 'w', object: objectOf(op.Key)}
	if op.Kind == sim.Read {
		e.mark = 'r'
	}
	pod := s.pod(e.actor)
	e.lane = pod
	if pod == "" {
		e.lane = e.actor
	}
	if st.Step <= s.from && !st.Choice.Outcome.Fault() || !s.ours(s.networks[e.actor]) {
		return e
	}
	x, known := st.Detail.(kube.Exchange)
	if s.podOf[e.actor] != "" && pod == "" && op.Kind != sim.Write && !st.Choice.Outcome.Fault() {
		return e // what another pod's call reads; words cost a decoding, and most steps are of this kind
	}
	e.text = r.words(st)
	address, mentioned := s.about(e.text)
	switch {
	case st.Choice.Outcome.Fault():
		e.mark, e.weight, e.turn = 'x', fate, "hurt"
		if pod == "" && !address && !mentioned {
			e.weight = scenery
		}
	case op.Kind == sim.Local || op.Kind == sim.Watch || !known:
	case op.Kind == sim.Event:
		if mentioned && !strings.HasPrefix(e.actor, "kubelet/") {
			e.mark, e.weight = 'r', scenery
		}
	case x.Resource == "leases":
	case op.Kind == sim.Read:
		if address || mentioned || seen(x, s) {
			e.weight = -glimpse // shown if its reader then wrote something
		}
	case x.Status >= 400:
		if e.mark = 'x'; pod != "" || address || mentioned {
			e.weight = attempt
		}
	case x.Resource == "pods":
		e.weight = s.podWritten(x, mentioned)
	case address && takesAway.MatchString(e.text):
		e.weight, e.turn = fate+1, "away"
	case address:
		e.weight = fate
	case pod != "" || mentioned:
		e.weight = cause
	}
	return e
}

// seen reports whether the answer shows one of the pods concerned.
func seen(x kube.Exchange, s *subject) bool {
	if x.Resource != "pods" || x.Verb != "list" {
		return false
	}
	for _, o := range parse(x.Response).Items {
		if slices.Contains(s.pods, o.key()) {
			return true
		}
	}
	return false
}

func (s *subject) podWritten(x kube.Exchange, mentioned bool) int {
	switch o := parse(x.Request); {
	case !mentioned:
		return unshown
	case o.Metadata.Annotations[statusAnnotation] != "":
		return glimpse // the write that others wait for
	case x.Verb == "delete":
		return attempt
	case x.Verb == "create" || x.Subresource == "binding":
		return unshown // the sandbox that follows says it
	}
	return scenery
}

func objectOf(key string) string {
	_, o, _ := strings.Cut(key, " ")
	o, _, _ = strings.Cut(o, "?")
	return o
}

// glimpses gives the reads their weight: of each object, the last one that an
// actor made before a write that matters. Its reads of the pods concerned all
// count: a reconciler that looks three times and sees nothing three times is the
// story.
func (s *subject) glimpses(all []*entry) {
	type key struct{ actor, object string }
	last, pods := map[key]*entry{}, map[string][]*entry{}
	for _, e := range all {
		switch {
		case e.mark == 'r' && e.text != "" && e.weight <= 0:
			if e.weight < 0 && strings.HasPrefix(e.object, "pods") {
				pods[e.actor] = append(pods[e.actor], e)
			} else {
				last[key{e.actor, e.object}] = e
			}
			e.weight = unshown
		case e.weight >= attempt && e.mark != '*':
			worth := glimpse
			if e.weight < cause {
				worth = attempt - 1
			}
			collection, _, _ := strings.Cut(e.object, "/")
			for _, object := range []string{collection, e.object} {
				if read := last[key{e.actor, object}]; read != nil {
					read.weight = max(read.weight, worth)
				}
			}
			for _, read := range pods[e.actor] {
				read.weight = max(read.weight, worth-5)
			}
			delete(pods, e.actor)
		}
	}
}

// earlier are the violations that foretold this one: what is true of one of its
// addresses and pods from some step on. The message of that step is a turning
// point, even if the address manager has no words for it.
func (s *subject) earlier(r *Report, all []*entry) []*entry {
	var out []*entry
	for _, v := range r.Violations {
		if v.Invariant == s.v.Invariant || v.Step >= s.v.Step || v.Step < s.from || !s.shares(v.Objects) {
			continue
		}
		for _, e := range all {
			if e.step == v.Step && e.text != "" && !e.fact {
				e.weight = max(e.weight, fate)
			}
		}
		out = append(out, &entry{step: v.Step, at: v.At, mark: '*', fact: true, weight: cause, turn: "sign",
			text: "from here on " + headline(&v)})
	}
	return out
}

// shares reports whether a violation is about an address and a pod of this one.
func (s *subject) shares(objects []string) bool {
	has := func(kind string, names []string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(objects, kind+" "+n) })
	}
	return has("address", s.named["address"]) && has("pod", s.pods)
}

// thin keeps the last few turning points of each kind: an address that was
// handed out a hundred times was handed out rightly most of the time.
func thin(all []*entry) {
	left := map[string]int{"out": 4, "away": 4, "hurt": 6, "sign": 3}
	for i := len(all) - 1; i >= 0; i-- {
		if e := all[i]; e.turn != "" && e.weight > scenery {
			if left[e.turn]--; left[e.turn] < 0 {
				e.weight = scenery
			}
		}
	}
}

// event weighs one entry of the history; holders are the containers that were
// given the address and live, with their pods.
func (s *subject) event(ev model.Event, holders map[string]string) *entry {
	pod := ev.Pod.String()
	ours := slices.Contains(s.pods, pod) && s.ours(ev.Network)
	e := &entry{step: ev.Step, at: ev.At, actor: ev.Actor, lane: pod, mark: '*', fact: true}
	before := ev.Step < s.from
	switch ev.Kind {
	case model.AddEnd:
		s.added(e, ev, ours && !before, holders)
	case model.DelEnd:
		if ours && !before {
			e.weight, e.text = scenery, "DEL of "+pod+" is done"
			if ev.Err != "" {
				e.mark, e.weight, e.text = 'x', cause, "DEL of "+pod+" fails: "+ev.Err
			}
		}
	case model.SandboxUp:
		if ours && !before {
			e.weight, e.text = attempt+1, "sandbox of "+pod+" is up on "+ev.Node
		}
	case model.SandboxDown:
		delete(holders, ev.Container)
		if ours && !before {
			e.weight, e.text = glimpse, fmt.Sprintf("sandbox of %s on %s is gone: %s", pod, ev.Node, ev.Text)
		}
	case model.Reconcile, model.Reconciled:
		e.lane, e.fact, e.weight, e.text = ev.Actor, false, -scenery, "begins a pass"
		if ev.Kind == model.Reconciled {
			if e.text = "ends its pass"; ev.Err != "" {
				e.mark, e.text = 'x', "ends its pass: "+ev.Err
			}
		}
	default:
		s.outside(e, ev, ours)
	}
	e.text = Clean(e.text)
	return e
}

func (s *subject) added(e *entry, ev model.Event, ours bool, holders map[string]string) {
	pod := ev.Pod.String()
	out := s.holds(ev) && s.ours(ev.Network)
	switch {
	case !ours:
	case ev.Err != "":
		e.mark, e.weight, e.text = 'x', cause, "ADD of "+pod+" fails: "+ev.Err
	case out:
		e.weight, e.turn = fate+1, "out"
		e.text = fmt.Sprintf("%s is handed out to %s on %s (%s)", list(ev.Addrs), pod, ev.Node, ev.Interface)
		delete(holders, ev.Container)
		if len(holders) > 0 {
			e.text += " AGAIN: " + strings.Join(sorted(slices.Collect(maps.Values(holders))), " and ") + " still has it"
		}
	default:
		e.weight, e.text = scenery, fmt.Sprintf("ADD returns %s for %s", list(ev.Addrs), pod)
	}
	if out && ev.Err == "" {
		holders[ev.Container] = pod
	}
}

// outside is what is done to the cluster: by people, to machines, to processes.
// It counts even before the story begins, which may be its consequence.
func (s *subject) outside(e *entry, ev model.Event, ours bool) {
	e.lane, e.actor = laneless, "" // the text says who
	switch ev.Kind {
	case model.Operator:
		e.weight, e.text = cause-5, "operator: "+ev.Text
		if ev.Err != "" {
			e.mark, e.text = 'x', e.text+": "+ev.Err
		}
	case model.NodeEvent:
		e.weight, e.text = scenery-10, "node "+ev.Node+": "+ev.Text
		if slices.Contains(s.named["node"], ev.Node) || ours {
			e.weight = attempt
		}
		if ev.Step == 0 {
			e.weight = unshown // every node comes up once
		}
	case model.ActorPanic:
		e.weight, e.actor, e.mark, e.fact = cause, ev.Actor, 'x', false
		e.text = "panics: " + firstLine(ev.Err)
		if slices.Contains(s.named["actor"], ev.Actor) {
			e.weight = fate
		}
	}
}

// passes shows where a reconciler's pass began and ended if it did anything of
// interest between.
func (s *subject) passes(all []*entry) {
	busy := map[string]bool{}
	for _, e := range all {
		if e.weight >= attempt {
			busy[e.actor] = true
		}
	}
	for _, e := range all {
		if e.weight < 0 {
			w := -e.weight
			if e.weight = unshown; busy[e.actor] {
				e.weight = w
			}
		}
	}
}

func list[T fmt.Stringer](items []T) string {
	s := make([]string, len(items))
	for i, x := range items {
		s[i] = x.String()
	}
	return strings.Join(s, " ")
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
