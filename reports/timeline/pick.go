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
	step     int
	at       time.Duration
	actor    string           // process, "" for an event of the cluster
	lane     string           // the column: a pod's key or a reconciler's actor
	mark     byte             // r read, w write, x fault or refusal, * fact
	text     string           // clean, without the actor; set by render
	brief    string           // shorter: its lists begin with the objects of the violation
	fact     bool             // the text contains its subject
	turn     string           // the kind of turning point, "" if it is none; thin keeps the last few of each kind
	weight   int              // the lowest is omitted first if there is no room; 0: not shown
	about    *sim.Request     // the request of a message
	sent     *sim.Step        // the message, nil for an event
	stack    string           // of a panic
	place    *place           // the line of the manager's source that sent it, if the weight is at least glimpse
	act      act.Act          // its effect, if judged
	judged   bool             // act is set
	races    []model.RaceMark // its parts in the races
	times    int              // the number of equal reads, if more than one; until is the time of the last
	until    time.Duration
	end      int              // the last step of several; 0: step
	sign     *model.Violation // the violation that begins here
	sentence func() string    // returns the text of an event
}

// Weights of entries. The changes of the address's owner come first, then the reads of the
// processes that made them; the rest is scenery.
const (
	fate           = 100 // assigned, released, fault
	late           = 90  // the network-status write that a reconciler read too early
	reconcilerRead = 88  // what a reconciler read before it wrote
	cause          = 80  // other writes of the pods of the violation, actions of operators and machines
	glimpse        = 70  // what an ADD or DEL read before it wrote
	attempt        = 50  // refused writes
	scenery        = 30
	unshown        = 0
	laneless       = ""
)

// pick returns the entries of a violation's timeline, in order.
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
		s.render(e)
	}
	return all
}

// setText sets the texts of an entry. The choice of entries does not depend on them.
func (s *subject) render(e *entry) {
	if e.sent == nil {
		e.text = e.sentence()
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

// message returns the entry of one step of the trace.
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
		return e // a read of another pod's call: most steps are, and decoding them is expensive
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

// weigh sets the weight of a message after the begin of the timeline.
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
			e.weight = -glimpse // shown if the reader writes later
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
		e.weight = cause - 6 // less than an operator's action: a status may be written many times
	default:
		if s.blockWritten(e, m) && e.weight == unshown && (pod != "" || m.pod) {
			e.weight = cause
		}
	}
}

// released reports whether a message releases an address of the violation.
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
		return unshown // the sandbox event follows
	}
	return scenery
}

// resource returns the API resource of a message's request.
func (e *entry) resource() string {
	if e.about == nil {
		return ""
	}
	return e.about.Resource
}

// path returns the path of the object of a message's request.
func (e *entry) path() string {
	switch {
	case e.about == nil:
		return ""
	case e.about.Subresource != "":
		return e.about.Path + "/" + e.about.Subresource
	}
	return e.about.Path
}

// glimpses sets the weight of reads: for each object, an actor's last read before a write
// that matters. All its reads of the violation's pods count, because a reconciler that
// reads a pod three times and never sees its address is the cause; equal reads are one line.
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
				worth = reconcilerRead
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
			for _, read := range merged(pods[e.actor]) {
				read.weight = max(read.weight, worth-1)
			}
			delete(pods, e.actor)
		}
	}
}

// onePanic omits the exit of a process that panics.
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

// repeats shows the request that a violation counts (fact "request"): the first one, how
// often it was sent, and until when.
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

// merged merges reads that returned the same into the first of them.
func merged(reads []*entry) []*entry {
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

// earlier returns entries for earlier violations that share an address and a pod with this
// one. The message of such a step is a turning point, even if it has no description.
func (s *subject) earlier(r *reports.Report, all []*entry) []*entry {
	var out []*entry
	seen := map[string]bool{}
	for i := range r.Violations {
		v := &r.Violations[i]
		if seen[v.Invariant] || v.Invariant == s.v.Invariant || v.Step >= s.v.Step || v.Step < s.from || !s.shares(v.Objects) {
			continue
		}
		seen[v.Invariant] = true
		for _, e := range all {
			if e.step == v.Step && e.judged && e.about != nil && e.about.Resource+e.about.Path != "" {
				e.weight = max(e.weight, fate)
			}
		}
		out = append(out, &entry{step: v.Step, at: v.At, mark: '*', fact: true, weight: cause, turn: "sign",
			sign: v, sentence: func() string { return spoken(prose.Sign(v)) }})
	}
	return out
}

// shares reports whether objects include an address and a pod of this violation.
func (s *subject) shares(objects []model.Ref) bool {
	has := func(kind model.RefKind, names []string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(objects, model.Ref{Kind: kind, Name: n}) })
	}
	return has(model.RefAddress, s.named[model.RefAddress]) && has(model.RefPod, s.pods)
}

// thin keeps the last few turning points of each kind: of a hundred assignments of an
// address, most are correct. For an imported cluster it keeps more actions of operators and
// hazards: the user asks about their effect.
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

// passes shows the begin and the end of a reconciler's pass if a step of the pass is shown.
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
