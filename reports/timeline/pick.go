package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/reports/prose"
	"ipamsim/sim"
)

// entry is one line of a timeline.
type entry struct {
	step   int
	at     time.Duration
	actor  string           // process, "" for what happens to the cluster
	lane   string           // whose column: a pod's key or a reconciler's actor
	mark   byte             // r reads, w writes, x hurt or refused, * a fact
	text   string           // clean, without the actor; pick fills it in when all is chosen
	brief  string           // a shorter one, which begins its lists with what the violation is about
	fact   bool             // the text has a subject of its own
	turn   string           // of what kind of turning point it is, of which the last few count
	weight int              // what is left out first when there is no room; 0: not shown
	about  *sim.Request     // what a message asked for
	sent   *sim.Step        // the message, nil for what is none
	stack  string           // of a panic
	place  *place           // of the manager's source that sent it, if the story turns on it
	act    act.Act          // what it did, if judged
	judged bool             // it was looked at what the message did
	races  []model.RaceMark // its parts in the orders that decide
	times  int              // how often the same was read, if more than once, and last when
	until  time.Duration
	end    int              // the last of several steps, 0: step
	sign   *model.Violation // that is true from here on
	say    func() string    // the text of what is no message
}

// What a line is worth. The story is told by what changed the fate of the
// address; then by what those who changed it had read; the rest is scenery.
const (
	fate     = 100 // handed out, taken away, hurt
	late     = 90  // the write that others waited for, and what a reconciler saw instead
	look     = 88
	cause    = 80 // other writes of the pods concerned, what people and machines did
	glimpse  = 70 // what an ADD or DEL had read before it wrote
	attempt  = 50 // writes that were refused
	scenery  = 30
	unshown  = 0
	laneless = ""
)

// pick lists what belongs to the story of a violation, in order.
func pick(r *reports.Report, s *subject) []*entry {
	var all []*entry
	if r.Trace != nil {
		for _, st := range r.Trace.Steps {
			if st.Step <= s.v.Step {
				all = append(all, s.message(r, st))
			}
		}
		s.glimpses(all)
		s.repeats(r, all)
	}
	if r.History != nil {
		holders := map[string]*model.Event{}
		for i := range r.History.Events {
			e := &r.History.Events[i]
			if e.Step > s.v.Step || e.At > s.v.At {
				break
			}
			all = append(all, s.event(e, holders))
		}
	}
	onePanic(all)
	all = append(all, s.earlier(r, all)...)
	s.passes(all)
	thin(all, r.Imported())
	s.decides(r, all)
	all = slices.DeleteFunc(all, func(e *entry) bool { return e.weight == unshown })
	slices.SortStableFunc(all, func(a, b *entry) int { return cmp.Compare(a.step, b.step) }) // messages before the facts they caused
	for _, e := range all {
		s.tell(e)
	}
	return all
}

// tell gives an entry its text. Nothing is chosen by it.
func (s *subject) tell(e *entry) {
	if e.sent == nil {
		e.text = e.say()
		return
	}
	more := ""
	if e.times > 1 {
		more = fmt.Sprintf(", %d times until %s", e.times, layout.Stamp(e.until))
	}
	e.text = Words(e.sent, &e.act) + more
	if short, ok := s.shorter(e.act); ok {
		e.brief = Words(e.sent, &short) + more
	}
}

// message weighs one step of the trace.
func (s *subject) message(r *reports.Report, st *sim.Step) *entry {
	op := st.Choice.Op
	e := &entry{step: st.Step, at: st.At, actor: string(op.Actor), mark: 'w', about: op.Request, sent: st}
	if op.Kind == sim.Read {
		e.mark = 'r'
	}
	pod := s.pod(e.actor)
	e.lane = cmp.Or(pod, e.actor)
	if op.Kind == sim.Write {
		s.wrote[e.actor] = true
	}
	fault := st.Choice.Outcome.Fault()
	before := st.Step <= s.from && !fault
	if before && (len(s.blocks) == 0 || op.Kind != sim.Write) || !s.ours(s.networks[e.actor]) {
		return e
	}
	if s.podOf[e.actor] != "" && pod == "" && op.Kind != sim.Write && !fault {
		return e // what another pod's call reads; words cost a decoding, and most steps are of this kind
	}
	e.act, e.judged = r.Did(st), true
	m := s.about(&e.act, op.Request)
	if before {
		if !s.blockWritten(e, m) || e.turn != "owned" || e.act.Outcome != act.Done {
			e.weight, e.turn = unshown, ""
		}
		return e
	}
	s.weigh(e, st, pod, m)
	return e
}

// weigh says what a message is worth that comes after the story has begun.
func (s *subject) weigh(e *entry, st *sim.Step, pod string, m mentions) {
	switch op := st.Choice.Op; {
	case st.Choice.Outcome.Fault():
		e.mark, e.weight, e.turn = 'x', fate, "hurt"
		if pod == "" && !m.any() {
			e.weight = scenery
		}
	case op.Kind == sim.Local || op.Kind == sim.Watch || e.act.Verb == "":
	case op.Kind == sim.Event:
		if (m.pod || m.block) && op.Actor.Kind() != "kubelet" {
			e.mark, e.weight = 'r', scenery
		}
	case e.resource() == "leases":
	case op.Kind == sim.Read:
		if m.any() {
			e.weight = -glimpse // shown if its reader then wrote something
		}
	case e.act.Outcome != act.Done:
		e.mark = 'x'
		if m.block = m.block && len(s.named[model.RefAddress]) == 0; pod != "" || m.any() {
			e.weight = attempt
		}
	case e.resource() == "pods":
		e.weight = podWritten(&e.act, m.pod)
	case m.address && s.released(&e.act):
		e.weight, e.turn = fate+1, "away"
	case m.address && !owns(&e.act):
		e.weight = fate
	case s.ranged(&e.act):
		e.weight = cause
	case m.service:
		e.weight = cause - 6 // less than an operator's deed: a status may be written again and again
	default:
		if s.blockWritten(e, m) && e.weight == unshown && (pod != "" || m.pod) {
			e.weight = cause
		}
	}
}

// released reports whether a message takes away an address of the violation.
func (s *subject) released(a *act.Act) bool {
	return slices.ContainsFunc(s.named[model.RefAddress], func(name string) bool {
		return a.Releases(model.Ref{Kind: model.RefAddress, Name: name})
	})
}

func podWritten(a *act.Act, mentioned bool) int {
	switch {
	case !mentioned:
		return unshown
	case a.Thing.Part(act.NetworkStatus) != nil:
		return late
	case a.Verb == act.Delete:
		return attempt
	case a.Verb == act.Create || a.Subresource == "binding":
		return unshown // the sandbox that follows says it
	}
	return scenery
}

// resource is of what the object is that a message is about.
func (e *entry) resource() string {
	if e.about == nil {
		return ""
	}
	return e.about.Resource
}

// path is where what a message is about is stored.
func (e *entry) path() string {
	switch {
	case e.about == nil:
		return ""
	case e.about.Subresource != "":
		return e.about.Path + "/" + e.about.Subresource
	}
	return e.about.Path
}

// glimpses gives the reads their weight: of each object, the last one that an
// actor made before a write that matters. Its reads of the pods concerned all
// count, because a reconciler that looks three times and sees nothing three times
// is the story; but what it saw again and again is one line.
func (s *subject) glimpses(all []*entry) {
	type key struct{ actor, path string }
	type survey struct {
		actor string
		of    act.Kind
	}
	last, pods, lists := map[key]*entry{}, map[string][]*entry{}, map[survey]*entry{}
	for _, e := range all {
		switch {
		case e.mark == 'r' && e.judged && e.weight <= 0:
			if e.weight < 0 && e.resource() == "pods" {
				pods[e.actor] = append(pods[e.actor], e)
			} else {
				last[key{e.actor, e.path()}] = e
			}
			if surveys(&e.act) {
				lists[survey{e.actor, e.act.Thing.Kind}] = e
			}
			e.weight = unshown
		case e.weight >= attempt && e.mark != '*':
			worth := glimpse
			if s.pod(e.actor) == "" {
				worth = look
			}
			if e.weight < cause {
				worth = attempt - 1
			}
			if e.about != nil {
				for _, path := range []string{e.about.Resource, e.path()} {
					if read := last[key{e.actor, path}]; read != nil {
						read.weight = max(read.weight, worth)
					}
				}
			}
			if surveyed(&e.act) {
				for _, of := range []act.Kind{act.Affinity, act.Block} {
					if read := lists[survey{e.actor, of}]; read != nil {
						read.weight = max(read.weight, worth-2)
					}
				}
			}
			for _, read := range again(pods[e.actor]) {
				read.weight = max(read.weight, worth-1)
			}
			delete(pods, e.actor)
		}
	}
}

// onePanic leaves out that a process exits that panics.
func onePanic(all []*entry) {
	type end struct {
		actor string
		step  int
	}
	panics := map[end]bool{}
	for _, e := range all {
		panics[end{e.actor, e.step}] = panics[end{e.actor, e.step}] || e.stack != ""
	}
	for _, e := range all {
		if e.turn == "exited" && panics[end{e.actor, e.step}] {
			e.weight, e.turn = unshown, ""
		}
	}
}

// repeats shows the request that a violation says is sent again and again: the first of those
// that it counts, and until when they were sent.
func (s *subject) repeats(r *reports.Report, all []*entry) {
	request, ok := model.FactOf[string](s.v.Facts, "request")
	since, _ := model.FactOf[time.Duration](s.v.Facts, "since")
	if !ok {
		return
	}
	var first *entry
	for _, e := range all {
		switch {
		case e.about == nil || e.at < since || e.about.String() != request || !slices.Contains(s.named[model.RefActor], e.actor):
		case first == nil:
			first, e.times, e.weight = e, 1, cause
			e.act, e.judged = r.Did(e.sent), true
		default:
			first.times, first.until, first.end, e.weight = first.times+1, e.at, e.step, unshown
		}
	}
}

// again merges reads that saw the same into the first of them.
func again(reads []*entry) []*entry {
	var out []*entry
	by := map[string]*entry{}
	for _, e := range reads {
		saw := fmt.Sprint(e.act)
		if first := by[saw]; first != nil {
			first.times, first.until = max(first.times, 1)+1, e.at
			continue
		}
		by[saw] = e
		out = append(out, e)
	}
	return out
}

// earlier are the violations that foretold this one: what is true of one of its
// addresses and pods from some step on. The message of that step is a turning
// point, even if the address manager has no words for it.
func (s *subject) earlier(r *reports.Report, all []*entry) []*entry {
	var out []*entry
	told := map[string]bool{}
	for i := range r.Violations {
		v := &r.Violations[i]
		if told[v.Invariant] || v.Invariant == s.v.Invariant || v.Step >= s.v.Step || v.Step < s.from || !s.shares(v.Objects) {
			continue
		}
		told[v.Invariant] = true
		for _, e := range all {
			if e.step == v.Step && e.judged && e.about != nil && e.about.Resource+e.about.Path != "" {
				e.weight = max(e.weight, fate)
			}
		}
		out = append(out, &entry{step: v.Step, at: v.At, mark: '*', fact: true, weight: cause, turn: "sign",
			sign: v, say: func() string { return spoken(prose.Sign(v)) }})
	}
	return out
}

// shares reports whether a violation is about an address and a pod of this one.
func (s *subject) shares(objects []model.Ref) bool {
	has := func(kind model.RefKind, names []string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(objects, model.Ref{Kind: kind, Name: n}) })
	}
	return has(model.RefAddress, s.named[model.RefAddress]) && has(model.RefPod, s.pods)
}

// thin keeps the last few turning points of each kind: an address that was
// handed out a hundred times was handed out rightly most of the time. Of what was done
// to an imported cluster more is kept: that is what its user asks about.
func thin(all []*entry, imported bool) {
	left := map[string]int{"out": 4, "away": 4, "hurt": 6, "sign": 3, "operator": 3, "hazard": 4, "failed": 3, "gone": 4, "owned": 6, "counted": 6, "used": 3, "borrowed": 3, "exited": 3}
	if imported {
		left["operator"], left["hazard"] = 12, 12
	}
	for i := len(all) - 1; i >= 0; i-- {
		if e := all[i]; e.turn != "" && e.weight > scenery {
			if left[e.turn]--; left[e.turn] < 0 {
				e.weight = scenery
			}
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
