package por

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// instruction of a toy process. Its register takes what it reads; what it writes depends
// on the register.
type instruction struct {
	do     string // read, both (two reads in parallel; the first answer counts), write, update (if not written since it was read), hear, odd (skip the next unless the register is odd), sleep, wake, await, mark
	object int
	other  int // the process that is woken; the other object that is marked, or read
}

type toy [][]instruction

// hides reports whether processes affect each other without a message, which has to be learned.
func (p toy) hides() bool {
	return slices.ContainsFunc(slices.Concat(p...), func(i instruction) bool { return i.do == "wake" })
}

// The times that a process of a toy waits for an event and for another process, each process a
// little longer than the one before. Like the durations of sleeps they are multiples neither of
// an instant nor of each other, because a schedule does not choose the order of two processes
// that a timer wakes at the same instant.
const (
	newsMax = 50*time.Millisecond + 570*time.Microsecond
	wordMax = 50*time.Millisecond + 830*time.Microsecond
	longer  = 10 * time.Microsecond
)

// toyValues is the number of values of an object: few, so that equal values are often written.
const toyValues = 5

func (p toy) String() string { return fmt.Sprint([][]instruction(p)) }

// judged collects the checked states of the runs of a toy.
type judged struct {
	by     judging
	states map[string]bool // of the objects, after each step
	ends   map[string]bool
	wrote  func(object string, state []byte) // called for each write; may be nil
}

func newJudged(by judging) *judged {
	return &judged{by: by, states: map[string]bool{}, ends: map[string]bool{}}
}

type judging string

const (
	asWhole judging = "as a whole"
	apart   judging = "apart" // each object and mark with those joined with it
	marks   judging = "marks" // apart, without objects: they matter only through the actions of their readers
)

// news are the writes to objects that a process watches and has not received yet.
type news struct {
	of   [3]bool
	came [][2]int
	wake chan struct{}

	longer    time.Duration // that the process waits
	revisions *[3]int       // how often each object was written
	seen      [3]int        // when the process read it
}

// hub are the news of each process.
type hub []*news

func newHub(p toy) (h hub) {
	revisions := &[3]int{}
	for a, program := range p {
		n := &news{wake: make(chan struct{}, 1), revisions: revisions, longer: time.Duration(a) * longer}
		for _, i := range program {
			n.of[i.object] = n.of[i.object] || i.do == "hear"
		}
		h = append(h, n)
	}
	return h
}

func (h hub) inform(object, value int) {
	h[0].revisions[object]++
	for _, n := range h {
		if !n.of[object] {
			continue
		}
		n.came = append(n.came, [2]int{object, value})
		select {
		case n.wake <- struct{}{}:
		default:
		}
	}
}

// hear waits a short time for news and takes the oldest.
func (n *news) hear(ctx context.Context, g *sim.Gate) (sum int) {
	for len(n.came) == 0 {
		select {
		case <-n.wake:
		case <-time.After(newsMax + n.longer):
			return 0
		}
	}
	r := &sim.Request{Verb: "HEAR", Path: fmt.Sprintf("objects/%d", n.came[0][0]), Resource: "objects"}
	_ = g.Pass(ctx, sim.Op{Kind: sim.Event, Key: "HEAR", Request: r}, func(context.Context) error {
		sum = n.came[0][0] + n.came[0][1]
		n.came = n.came[1:]
		return nil
	})
	return sum
}

// marked is state that processes write and none reads.
type marked [3]int

// sight is the checked state of a run so far.
type sight struct {
	objects [3]int
	marks   marked
}

// touched are the checked things that differ.
func (s *sight) touched(was *sight, by judging) (out []string) {
	for i := range s.objects {
		if s.objects[i] != was.objects[i] && by != marks {
			out = append(out, fmt.Sprint("object ", i))
		}
		if s.marks[i] != was.marks[i] {
			out = append(out, fmt.Sprint("mark ", i))
		}
	}
	return out
}

func (s *sight) of(thing string) int {
	kind, i := "", 0
	_, _ = fmt.Sscan(thing, &kind, &i)
	if kind == "mark" {
		return s.marks[i]
	}
	return s.objects[i]
}

// see records the state after a step that touched something. groups are the things that
// earlier steps of the run have joined.
func (j *judged) see(s *sight, touched []string, groups *[][]string) []string {
	switch {
	case len(touched) == 0:
		return nil
	case j.by == asWhole:
		j.states[fmt.Sprint(*s)] = true
		return []string{Whole}
	}
	one := slices.Clone(touched)
	*groups = slices.DeleteFunc(*groups, func(g []string) bool {
		meets := slices.ContainsFunc(g, func(t string) bool { return slices.Contains(touched, t) })
		if meets {
			one = append(one, g...)
		}
		return meets
	})
	slices.Sort(one)
	one = slices.Compact(one)
	*groups = append(*groups, one)
	j.states[s.say(one)] = true
	return touched
}

// end records the state at the end of a run.
func (j *judged) end(s *sight, groups [][]string) {
	if j.by == asWhole {
		j.ends[fmt.Sprint(*s)] = true
	}
	for _, g := range groups {
		j.ends[s.say(g)] = true
	}
}

func (s *sight) say(things []string) (text string) {
	for _, t := range things {
		text += fmt.Sprintf("%s=%d ", t, s.of(t))
	}
	return text
}

// run runs a toy. touched are the checked things that changed, by step.
func (p toy) run(t interface{ Fatalf(string, ...any) }, st sim.Strategy, faults sim.Budget, j *judged) (tr *sim.Trace, touched [][]string, end time.Duration) {
	var now sight
	var groups [][]string
	o := sim.Options{Strategy: st, Faults: faults, Instant: time.Millisecond, Limits: sim.Limits{Virtual: time.Hour}}
	tr, err := sim.Run(context.Background(), o, func(w *sim.World) error {
		before := now
		w.Hooks.Step = func(*sim.Step) {
			touched = append(touched, j.see(&now, now.touched(&before, j.by), &groups))
			before = now
		}
		w.Hooks.End = func() {
			end = w.Now()
			j.end(&now, groups)
		}
		var wakes []chan int
		for range p {
			wakes = append(wakes, make(chan int, 9))
		}
		hub := newHub(p)
		left := len(p)
		for a, program := range p {
			w.Spawn(sim.Process{ID: sim.ActorID('a' + rune(a)), Run: func(ctx context.Context, g *sim.Gate) error {
				defer func() {
					if left--; left == 0 {
						time.Sleep(time.Second) // so that all processes receive the effects of the last step
						w.Finish()
					}
				}()
				return p.process(ctx, g, a, program, &now, wakes, hub, j.wrote)
			}})
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%v: %v", p, err)
	}
	return tr, touched, end
}

func (p toy) process(ctx context.Context, g *sim.Gate, a int, program []instruction, now *sight, wakes []chan int, hub hub, wrote func(string, []byte)) error {
	register := a + 1
	skip := false
	read := func(object int) (value int) {
		r := &sim.Request{Verb: "GET", Path: fmt.Sprintf("objects/%d", object), Resource: "objects"}
		get := func(context.Context) error {
			value = now.objects[object]
			hub[a].seen[object] = hub[a].revisions[object]
			return nil
		}
		if g.Pass(ctx, sim.Op{Kind: sim.Read, Key: "GET", Request: r, Faults: sim.Of(sim.FailBefore), Fails: 1}, get) != nil {
			value = 100
		}
		return value
	}
	for n, i := range program {
		if skip {
			skip = false
			continue
		}
		path, resource := fmt.Sprintf("objects/%d", i.object), "objects"
		switch i.do {
		case "read":
			register += read(i.object)
		case "both":
			first, second := make(chan int), make(chan int)
			go func() { first <- read(i.object) }()
			// The second read is of another object: a schedule cannot choose between two equal requests.
			go func() { second <- read((i.object + 1 + i.other%2) % len(now.objects)) }()
			select {
			case x := <-first:
				register += 2*x + <-second
			case x := <-second:
				register += 3*x + <-first + 10
			}
		case "write", "update":
			op := sim.Op{Kind: sim.Write, Key: "PUT", Request: &sim.Request{Verb: "PUT", Path: path, Resource: resource}, Faults: sim.Of(sim.FailBefore, sim.LoseReply), Fails: 1}
			stale := false
			write := func(context.Context) error {
				if stale = i.do == "update" && hub[a].seen[i.object] != hub[a].revisions[i.object]; stale {
					return nil
				}
				value := (register*7 + n) % toyValues
				now.objects[i.object] = value
				if hub.inform(i.object, value); wrote != nil {
					wrote(path, fmt.Append(nil, value))
				}
				return nil
			}
			if g.Pass(ctx, op, write) != nil {
				register += 1000
			}
			if stale {
				register += 50
			}
		case "hear":
			register += hub[a].hear(ctx, g)
		case "odd":
			skip = register%2 == 0
		case "sleep":
			time.Sleep(time.Duration(i.object+1)*10*time.Millisecond + 310*time.Microsecond)
		case "wake":
			wakes[i.other] <- register
		case "mark": // not commutative, and relevant only to the check
			op := sim.Op{Kind: sim.Local, Key: fmt.Sprint("MARK ", i.object, i.other), Request: &sim.Request{Verb: "MARK"}}
			_ = g.Pass(ctx, op, func(context.Context) error {
				for _, m := range []int{i.object, i.other % len(now.marks)} {
					now.marks[m] = (now.marks[m]*3 + register*7 + n + a) % 1024
				}
				return nil
			})
		case "await": // until another process wakes it, or a timeout
			select {
			case x := <-wakes[a]:
				register += x
			case <-time.After(wordMax + hub[a].longer):
			}
		}
	}
	return nil
}

// plainly runs every schedule, one by one.
func (p toy) plainly(t interface{ Fatalf(string, ...any) }, b Bounds, max int, by judging) (int, *judged) {
	j := newJudged(by)
	all := strategy.Unbounded
	e := strategy.NewExhaustive(strategy.Bounds{Depth: all, Preemptions: b.Preemptions, Delays: all, Faults: b.Faults, Reorders: b.Reorders})
	n := 0
	for range strategy.Runs(e) {
		p.run(t, e, budget(b), j)
		if n++; n > max {
			return n, nil
		}
	}
	if e.Err() != nil {
		t.Fatalf("%v: %v", p, e.Err())
	}
	return n, j
}

func budget(b Bounds) sim.Budget {
	return sim.Budget{Allowed: sim.Of(sim.FailBefore, sim.LoseReply), Max: b.Faults}
}

// reduced covers the schedules by partial-order reduction.
func (p toy) reduced(t interface{ Fatalf(string, ...any) }, b Bounds, probes int, by judging) (*Result, *judged) {
	return p.kept(t, b, probes, by, nil)
}

func (p toy) kept(t interface{ Fatalf(string, ...any) }, b Bounds, probes int, by judging, keep func(*Log) error) (*Result, *judged) {
	j := newJudged(by)
	s := &Search{Bounds: b, Instant: time.Millisecond, Probes: probes, Keep: keep, World: func(_ context.Context, plan Plan) (*Log, error) {
		g := NewGuide(plan, budget(b))
		j.wrote = g.Wrote
		tr, touched, end := p.run(t, g, budget(b), j)
		l := g.Log(tr, end)
		for i, things := range touched {
			l.Steps[i].Touches, l.Steps[i].All = things, true
		}
		return l, nil
	}}
	r, err := s.Cover(context.Background())
	if err != nil {
		t.Fatalf("%v: %v", p, err)
	}
	return r, j
}

// On random programs the reduction loses no state and no schedule. If objects are checked
// apart, it loses no state of joined objects. It loses no end in either case.
func TestReductionLosesNothing(t *testing.T) {
	for _, by := range []judging{asWhole, apart, marks} {
		t.Run(string(by), func(t *testing.T) { losesNothing(t, by) })
	}
}

func losesNothing(t *testing.T, by judging) {
	schedules, runs := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t)
		b := Bounds{rapid.IntRange(0, 2).Draw(t, "preemptions"), rapid.IntRange(0, 1).Draw(t, "faults"), rapid.SampledFrom([]int{0, 1, Any}).Draw(t, "reorders")}
		n, want := p.plainly(t, b, 300, by)
		if want == nil {
			t.Skip("too many schedules to go through one by one")
		}
		probes := 10
		if !p.hides() {
			probes = 0 // the search must show without probes what they would show
		}
		r, got := p.reduced(t, b, probes, by)
		if missing := less(want.states, got.states); len(missing) > 0 {
			t.Fatalf("%v %+v: states that no run showed: %v", p, b, missing)
		}
		if missing := less(want.ends, got.ends); len(missing) > 0 {
			t.Fatalf("%v %+v: ends that no run showed: %v", p, b, missing)
		}
		if r.Schedules.Int64() != int64(n) || r.Runs-r.Probes > n || !r.Covered {
			t.Fatalf("%v %+v: %d schedules and %d runs, want %d schedules", p, b, r.Schedules, r.Runs, n)
		}
		schedules, runs = schedules+n, runs+r.Runs-r.Probes
	})
	t.Logf("%d schedules, %d runs", schedules, runs)
}

// TestEndsAreShown: a run shows an end even if earlier runs have shown each of its steps. A's
// write fails, and B and C mark one thing in either order. A's failure changes no checked state,
// so each step is shown without the end in which A failed and C was first.
func TestEndsAreShown(t *testing.T) {
	p := toy{{{do: "write"}}, {{do: "mark"}}, {{do: "mark"}}}
	b := Bounds{Faults: 1}
	for _, by := range []judging{asWhole, apart} {
		n, want := p.plainly(t, b, 300, by)
		r, got := p.reduced(t, b, 0, by)
		if r.Schedules.Int64() != int64(n) {
			t.Errorf("%s: %v schedules, want %d", by, r.Schedules, n)
		}
		if lost := append(less(want.states, got.states), less(want.ends, got.ends)...); len(lost) > 0 {
			t.Errorf("%s: lost: %v", by, lost)
		}
	}
}

// TestReadsByState: a reader of an object depends on its writers only through the state that
// they left and the number of writes. In the first program two processes write in either
// order, and what C reads decides what it marks, before or after D does. In the second B
// writes what A wrote, so that C's update is refused although it read the same.
func TestReadsByState(t *testing.T) {
	sleep, mark := instruction{do: "sleep"}, instruction{do: "mark", object: 1}
	later := instruction{do: "sleep", object: 1}
	for _, p := range []toy{
		{{{do: "write"}}, {{do: "write"}}, {sleep, {do: "read"}, mark}, {sleep, mark}},
		{{{do: "write"}, sleep, mark}, {sleep, later, {do: "read", object: 1}, {do: "write"}}, {sleep, later, {do: "read"}, {do: "update"}, mark}},
	} {
		n, want := p.plainly(t, Bounds{Preemptions: 2}, 300, marks)
		r, got := p.reduced(t, Bounds{Preemptions: 2}, 0, marks)
		if r.Schedules.Int64() != int64(n) || r.Runs >= n {
			t.Errorf("%v: %v schedules by %d runs, want %d by fewer", p, r.Schedules, r.Runs, n)
		}
		if lost := append(less(want.states, got.states), less(want.ends, got.ends)...); len(lost) > 0 {
			t.Errorf("%v: lost: %v", p, lost)
		}
	}
}

// TestHearsWhatWasWritten: a process that hears of a write learns what was written, not how
// the writer came to it. Here the writer read before, between or after the steps of another
// process; in the first program what it writes depends on that.
func TestHearsWhatWasWritten(t *testing.T) {
	for _, tt := range []struct {
		writer []instruction
		heard  int
	}{
		{[]instruction{{do: "read", object: 1}, {do: "write"}}, 2},
		{[]instruction{{do: "write", object: 1}, {do: "write"}}, 1},
	} {
		p := toy{tt.writer, {{do: "write", object: 1}}, {{do: "hear"}}}
		var logs []*Log
		p.kept(t, Bounds{Preemptions: 2}, 0, asWhole, func(l *Log) error { logs = append(logs, l); return nil })
		rel := NewRelation()
		rel.deaf[listener{"c", "objects/1"}] = true
		u, err := build(rel, time.Millisecond, logs)
		if err != nil {
			t.Fatal(err)
		}
		writes, heard := 0, 0
		for i := range u.events {
			switch e := &u.events[i]; {
			case u.messages[e.message].name.About != "PUT objects/0":
			case u.kinds[e.kind].informed:
				heard++
			default:
				writes++
			}
		}
		if writes != 2 || heard != tt.heard {
			t.Errorf("%v: %d writes C hears %d of them, want 2 and %d", p, writes, heard, tt.heard)
		}
	}
}

// TestDeaf: C listens to one object, and was informed of a write of it before a write of
// another object and immediately after it.
func TestDeaf(t *testing.T) {
	write := func(o int) instruction { return instruction{do: "write", object: o} }
	hear := instruction{do: "hear"}
	p := toy{{write(0), {do: "sleep"}, write(1), write(0), write(2)}, {hear, hear}}
	rel := NewRelation()
	p.kept(t, Bounds{}, 0, asWhole, func(l *Log) error { rel.learnDeaf(l); return nil })
	for o, want := range []bool{false, true, false} {
		if got := rel.deaf[listener{"b", fmt.Sprint("objects/", o)}]; got != want {
			t.Errorf("deaf to object %d: %v, want %v", o, got, want)
		}
	}
}

func less(a, b map[string]bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(a)), func(k string) bool { return b[k] })
}

func drawn(t *rapid.T) toy {
	dos := []string{"read", "read", "both", "both", "write", "write", "update", "hear", "hear", "odd", "sleep", "wake", "await", "mark", "mark"}
	n := rapid.IntRange(2, 4).Draw(t, "processes")
	p := make(toy, n)
	for a := range p {
		for range rapid.IntRange(1, 8/n).Draw(t, "length") {
			p[a] = append(p[a], instruction{
				do: rapid.SampledFrom(dos).Draw(t, "do"), object: rapid.IntRange(0, 2).Draw(t, "object"), other: rapid.IntRange(0, n-1).Draw(t, "other"),
			})
		}
	}
	return p
}

// Known counts of some programs: n processes of two unrelated messages have (2n)!/2^n orders,
// and one run covers them. A writer and n readers of one object have (n+1)! orders, and each
// additional reader adds one step, because the write does not depend on earlier reads. A
// process that watches two writes receives the first alone or both. A process that receives a
// write receives the same whatever an unrelated process does.
func TestKnownCounts(t *testing.T) {
	const all = 99
	read := func(o int) instruction { return instruction{do: "read", object: o} }
	both := func(o, p int) instruction { return instruction{do: "both", object: o, other: p} }
	write := func(o int) instruction { return instruction{do: "write", object: o} }
	hear := func(o int) instruction { return instruction{do: "hear", object: o} }
	for _, tt := range []struct {
		name      string
		p         toy
		bounds    Bounds
		schedules int64
		runs      int
	}{
		{"one", toy{{read(0), read(1)}}, Bounds{}, 1, 1},
		{"two at once", toy{{both(0, 1)}}, Bounds{Preemptions: all}, 1, 1},
		{"two at once, in either order", toy{{both(0, 1)}}, Bounds{Reorders: 1}, 2, 2},
		{"twice two at once, one in another order", toy{{both(0, 1), both(0, 1)}}, Bounds{Reorders: 1}, 3, 3},
		{"twice two at once, in any order", toy{{both(0, 1), both(0, 1)}}, Bounds{Reorders: Any}, 4, 4},
		{"three unrelated", toy{{read(0), read(0)}, {read(1), read(0)}, {read(0), read(2)}}, Bounds{Preemptions: all}, 90, 1},
		{"three unrelated, no preemption", toy{{read(0), read(0)}, {read(1), read(0)}, {read(0), read(2)}}, Bounds{}, 6, 1},
		{"a writer and two readers", toy{{write(0)}, {read(0)}, {read(0)}}, Bounds{Preemptions: all}, 6, 3},
		{"a writer and three readers", toy{{write(0)}, {read(0)}, {read(0)}, {read(0)}}, Bounds{Preemptions: all}, 24, 4},
		{"two writers", toy{{write(0)}, {write(0)}}, Bounds{Preemptions: all}, 2, 2},
		{"two writes and who hears of them", toy{{write(0), write(0)}, {hear(0)}}, Bounds{Preemptions: all}, 2, 2},
		{"what one reads, the other writes, and a third hears", toy{{read(1), write(0)}, {read(2), write(1)}, {hear(0)}}, Bounds{Preemptions: all}, 10, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := tt.p.reduced(t, tt.bounds, 0, asWhole)
			if r.Schedules.Int64() != tt.schedules || r.Runs > tt.runs || !r.Covered {
				t.Errorf("%d schedules by %d runs, want %d by at most %d", r.Schedules, r.Runs, tt.schedules, tt.runs)
			}
		})
	}
}
