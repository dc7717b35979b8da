// Package shrink reduces a failing run: its scenario and its schedule together, until neither gets
// smaller. Every step is confirmed by a run that fails in the same way, so the result contains only what
// the failure needs.
package shrink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/shrink/internal/retry"
	"ipamsim/fuzz/shrink/internal/tree"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// Options limit the work. The zero value is usable.
type Options struct {
	Runs    int           // number of runs; default 400
	Time    time.Duration // wall-clock time; default 20 s
	More    int           // factor for both while more than finding.SwitchesMax switches are left; default 1
	Samples int           // random continuations of the result; default 20, negative: none
}

func (o Options) orDefault() Options {
	o.Runs = cmp.Or(o.Runs, 400)
	if o.Time == 0 {
		o.Time = 20 * time.Second
	}
	o.More = max(1, o.More)
	o.Samples = cmp.Or(o.Samples, 20)
	return o
}

// ErrNotAgain is wrapped by the error for a run that does not fail in the same way when it is repeated.
// There is no finding, but perhaps a defect of the harness.
var ErrNotAgain = errors.New("it did not fail again the same way")

// Shrink returns the finding for a violation v of a run of s, which rep reports. When the options' limits
// are reached, or ctx ends, it returns the smallest failure so far; the error is then nil, unless not even
// the first run could be repeated.
//
// Shrink runs scenarios in this process, one after another. Candidates run in memory, which is equivalent
// and faster; the finding is recorded and replayed on etcd.
func Shrink(ctx context.Context, r *scenarios.Runner, s *scenarios.Scenario, rep *reports.Report, v *model.Violation, o Options) (*finding.Finding, error) {
	o = o.orDefault()
	k := &shrinker{
		ctx: ctx, runner: r, managers: s.Managers(), options: o, began: time.Now(), tried: map[uint64]bool{},
		seed: rep.Seed, store: scenarios.Memory, lock: finding.SignatureOf(rep, v), invariant: v.Invariant,
	}
	if err := k.begin(s, rep, v); err != nil {
		return nil, err
	}
	for k.round() {
	}
	return k.finish()
}

// shrinker is the state of shrinking one failure.
type shrinker struct {
	ctx       context.Context
	runner    *scenarios.Runner
	managers  scenarios.Managers
	options   Options
	began     time.Time
	seed      uint64
	store     string // of the next run: candidates run in memory
	lock      finding.Signature
	invariant string // of the original violation
	runs      int
	made      retry.Runs      // the runs of recording the finding
	tried     map[uint64]bool // candidates, by their text and exceptions
	needed    map[string]bool // places that could not be removed on their own in this round
	drawn     int             // number of schedules, see reschedule

	// The smallest failure so far.
	docs     []tree.Tree
	settings int // see hasSettings
	world    *scenarios.Scenario
	rep      *reports.Report
	rules    []strategy.Exception // sorted by process
	steps    int                  // the lowest number so far
}

// begin repeats the failure without what comes after it: in the default order if the failure occurs there,
// which is often the case and saves work; otherwise in the recorded order.
func (k *shrinker) begin(s *scenarios.Scenario, rep *reports.Report, v *model.Violation) error {
	plain := bare(s)
	plain.Doc.Spec.Datastore = rep.Datastore
	k.steps = len(rep.Trace.Steps)
	if err := k.from(cut(plain, v)); err != nil || !k.lock.Faulted && k.takes(k.docs, nil) {
		return err
	}
	rec := strategy.NewRecorder(strategy.NewReplay(rep.Trace.Schedule()))
	again, err := k.run(plain, rec)
	if err != nil {
		return fmt.Errorf("shrink %s: %w", s.Name(), err)
	}
	if k.lock.In(again) == nil {
		return fmt.Errorf("shrink %s, seed %d: %s: %w", s.Name(), rep.Seed, v.Invariant, ErrNotAgain)
	}
	rules := rec.Exceptions()
	slices.SortStableFunc(rules, byActor)
	if k.faultless(rules) || k.takes(k.docs, rules) {
		return nil
	}
	if err := k.from(plain); err != nil || k.takes(k.docs, rules) {
		return err
	}
	return fmt.Errorf("shrink %s, seed %d: %s, in the sparse form: %w", s.Name(), rep.Seed, v.Invariant, ErrNotAgain)
}

// faultless reports whether the failure occurs without any of its faults and with all else unchanged. If
// so, it is shrunk as a failure without faults; otherwise at least one fault is kept.
func (k *shrinker) faultless(rules []strategy.Exception) bool {
	if !k.lock.Faulted {
		return false
	}
	k.lock.Faulted = false
	if k.takes(k.docs, slices.DeleteFunc(slices.Clone(rules), isFault)) {
		return true
	}
	k.lock.Faulted = true
	return false
}

// withoutOperator tries whether the address manager breaks the invariant without the operator's actions. If
// so, that is the failure to shrink. It removes all entries of the timeline, otherwise one.
func (k *shrinker) withoutOperator() {
	v := k.lock.In(k.rep)
	if v == nil {
		return
	}
	lock := k.lock
	k.lock.Cause = cause.Apart(k.rep, v).Signature()
	entries, _ := tree.Value(k.docs[0], tree.Path{"spec", "timeline"}).([]any)
	if k.lock == lock || len(entries) == 0 {
		k.lock = lock
		return
	}
	if k.try(k.with(0, tree.Without(k.docs[0], []tree.Path{{"spec", "timeline"}})), k.rules) {
		return
	}
	for i := range min(len(entries), entriesMax) {
		if k.try(k.with(0, tree.Without(k.docs[0], []tree.Path{{"spec", "timeline", i}})), k.rules) {
			return
		}
	}
	k.lock = lock
}

// entriesMax is the limit for removing entries one by one.
const entriesMax = 8

// from sets the documents of a scenario as the first state.
func (k *shrinker) from(s *scenarios.Scenario) error {
	docs, err := s.Documents()
	if err == nil {
		k.docs, err = tree.Read(docs)
	}
	k.settings = tree.CountSettings(k.docs)
	return err
}

// round tries everything once and reports whether something got smaller.
func (k *shrinker) round() bool {
	before := k.size()
	k.needed = map[string]bool{}
	k.withoutOperator()
	k.kinds()
	k.order()
	k.hold()
	k.plainly()
	k.reschedule()
	k.merge()
	k.parts()
	k.coarse()
	k.kinds()
	k.hold()
	k.exceptions()
	k.faultless(k.rules)
	k.fine()
	return k.size() != before && !k.spent()
}

// size returns a number that decreases whenever something gets smaller.
func (k *shrinker) size() int {
	text, _ := tree.Write(k.docs)
	return len(text) + 100*len(k.rules)
}

func (k *shrinker) spent() bool {
	n := 1
	if orders(k.rules) > finding.SwitchesMax {
		n = k.options.More
	}
	return k.runs >= n*k.options.Runs || time.Since(k.began) > time.Duration(n)*k.options.Time || k.ctx.Err() != nil
}

// try takes the candidate if it fails in the same way, unless the limits are reached.
func (k *shrinker) try(docs []tree.Tree, rules []strategy.Exception) bool {
	return !k.spent() && k.takes(docs, rules)
}

func (k *shrinker) takes(docs []tree.Tree, rules []strategy.Exception) bool {
	text, err := tree.Write(docs)
	if err != nil || !k.hasSettings(docs) {
		return false
	}
	key := hash(k.lock, text, rules)
	if k.tried[key] {
		return false
	}
	k.tried[key] = true
	world, err := k.managers.Parse("candidate.yaml", text)
	if err != nil {
		return false // a document that does not load is no candidate
	}
	walk := strategy.NewSparse(rules)
	rep, err := k.run(world, walk)
	if err != nil || k.lock.In(rep) == nil {
		return false
	}
	k.docs, k.world, k.rep, k.steps = docs, world, rep, min(k.steps, len(rep.Trace.Steps))
	unused := walk.Unused()
	k.rules = nil
	for i, e := range rules {
		if _, useless := slices.BinarySearch(unused, i); !useless {
			k.rules = append(k.rules, e)
		}
	}
	return true
}

// run executes one run that ends at the violation.
func (k *shrinker) run(world *scenarios.Scenario, walk sim.Strategy) (*reports.Report, error) {
	k.runs++
	bounded := *world
	bounded.Doc.Spec.Limits.Steps = k.steps + k.steps/4 + stepsSpare
	stop := func(rep *reports.Report, v *model.Violation) bool { return finding.SignatureOf(rep, v) == k.lock }
	rep, err := k.runner.Run(k.ctx, &bounded, scenarios.Options{Seed: &k.seed, Walk: walk, StopAt: stop, Store: k.store})
	k.made.Add(rep)
	return rep, err
}

// stepsSpare allows a candidate a few more steps than the shortest run, because removing an exception can
// make it longer. A much longer run is not worth its time.
const stepsSpare = 100

func hash(lock finding.Signature, text []byte, rules []strategy.Exception) uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, lock)
	_, _ = h.Write(text)
	for _, e := range rules {
		fmt.Fprintf(h, "%v\n", e)
	}
	return h.Sum64()
}
