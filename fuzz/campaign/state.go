package campaign

import (
	"maps"
	"slices"
	"time"

	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/coverage"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/space"
	"ipamsim/reports"
	"ipamsim/reports/index"
)

// state is the campaign's state according to the log so far.
//
// Exactly-once is decided here and nowhere else: a result counts if it belongs to the
// current epoch and is the first of its key. A shard that ran twice, because its
// worker was slow or dead or its message was not acknowledged in time, counts
// once. A result from a worker of an earlier epoch does not count, because its
// seeds were planned again.
type state struct {
	epoch   int
	took    map[string]bool      // keys of this epoch
	sources map[int]*queue.Spans // seeds done
	began   time.Time            // of the epoch
	last    time.Time            // of the last event
	before  time.Duration        // duration of earlier epochs since the campaign last ended
	ended   string               // the reason why the campaign ended, if it did
	worked  time.Duration        // duration of all earlier epochs
	series  series

	runs, unknown  uint64
	worlds         space.Tally
	steps          int
	busy           time.Duration // sum over all workers, exploring
	pairs          map[uint64]struct{}
	states         coverage.Sightings
	allocators     coverage.Sightings
	early          map[coverage.Run][]queue.Sights // sights of runs that do not count yet
	over           map[int]bool                    // sources whose schedules are all explored
	classes        map[string]*queue.Class
	findings       map[string]*found
	of             map[string]string           // fingerprint by signature
	tries          map[string]map[place]string // fingerprints by signature and run; "" if shrinking did not succeed
	dropped        map[string]bool             // fingerprints of rough findings that were replaced by shrunk ones
	deaths         []queue.Death
	defects        []string
	defective      int
	refused        string
	shrunk         int
	shrinking      time.Duration // sum over all
	recorded       int
	recording      time.Duration
	caught, missed uint64 // canaries
	repeated       reports.Repeated
	canary         bool   // the canary shard is done
	parts          []part // points of a plan that are done, by their numbers
}

// found is a finding with its signatures and causes in this campaign.
type found struct {
	queue.Kept
	signatures []string
	causes     []cause.Cause // of all shrunk failures that have its name
}

func newState() *state {
	return &state{
		took: map[string]bool{}, sources: map[int]*queue.Spans{}, pairs: map[uint64]struct{}{}, early: map[coverage.Run][]queue.Sights{},
		over: map[int]bool{}, classes: map[string]*queue.Class{}, findings: map[string]*found{}, of: map[string]string{}, tries: map[string]map[place]string{}, dropped: map[string]bool{},
	}
}

// apply applies the next event of the log, and reports whether it counts.
func (s *state) apply(e queue.Event, at time.Time) bool {
	switch {
	case e.Epoch != nil:
		if s.epoch > 0 {
			s.before += s.last.Sub(s.began)
			s.worked += s.last.Sub(s.began)
		}
		if s.ended != "" {
			s.before = 0 // the campaign's time begins again
		}
		s.epoch, s.began, s.took, s.ended, s.refused = *e.Epoch, at, map[string]bool{}, "", ""
	case e.Cover != nil:
		for _, x := range e.Cover {
			s.addSights(x)
		}
	case e.Result != nil:
		key := e.Result.Shard.Key()
		if e.Result.Shard.Epoch != s.epoch || s.took[key] {
			return false
		}
		s.took[key] = true
		s.result(e.Result, at)
	case e.End != "":
		s.ended = e.End
	}
	s.last = at
	s.series.add(index.Sample{
		At: s.worked + at.Sub(s.began), Runs: s.runs, States: s.states.Kinds(), Pairs: len(s.pairs), Findings: len(s.findings),
	})
	return true
}

func (s *state) result(r *queue.Result, at time.Time) {
	s.deaths = append(s.deaths, r.Deaths...)
	s.repeated.Add(r.Repeated)
	for _, d := range r.Deaths {
		if d.Kept == nil {
			continue
		}
		s.find(*d.Kept)
		if r.Shard.Kind == queue.Explore { // a death in another shard was counted before
			s.count(d.Kept.Signature, &queue.Class{
				Invariant: d.Kept.Invariant, Severity: d.Kept.Severity, Count: 1, First: d.First, FirstAfter: d.FirstAfter,
			}, s.elapsed(at)-r.Wall)
		}
	}
	for _, k := range r.Kept {
		s.find(k)
	}
	s.defective += len(r.Defects)
	s.defects = append(s.defects, r.Defects[:min(len(r.Defects), max(0, defectsMax-len(s.defects)))]...)
	if r.Refused != "" && s.refused == "" {
		s.refused = r.Refused
	}
	switch r.Shard.Kind {
	case queue.Canary:
		s.canary = true
		for _, c := range r.Classes {
			s.caught += c.Count
		}
		s.missed = r.Done - min(r.Done, s.caught)
	case queue.Shrink:
		s.tried(r)
		s.shrunk++
		s.shrinking += r.Wall
	case queue.Record:
		s.recorded++
		s.recording += r.Wall
	case queue.Explore:
		s.explored(r, at)
	case queue.Plan:
		s.addPoints(r)
	}
}

func (s *state) explored(r *queue.Result, at time.Time) {
	if r.Shard.Whole {
		s.over[r.Shard.Source] = r.Over
		return
	}
	start := s.elapsed(at) - r.Wall
	for _, sig := range slices.Sorted(maps.Keys(r.Classes)) {
		s.count(sig, r.Classes[sig], start)
	}
	s.ran(r)
}

// ran counts the runs of a shard.
func (s *state) ran(r *queue.Result) {
	done := s.sources[r.Shard.Source]
	if done == nil {
		done = &queue.Spans{}
		s.sources[r.Shard.Source] = done
	}
	done.Add(queue.Span{From: r.Shard.From, To: r.Shard.From + r.Done})
	s.runs += r.Done
	s.worlds.Merge(r.Worlds)
	s.unknown += uint64(r.Unknown)
	s.steps += r.Steps
	s.busy += r.Wall
	s.countSights(r)
}

// count adds the failures of one class in a shard that began at start.
func (s *state) count(sig string, c *queue.Class, start time.Duration) {
	have := s.classes[sig]
	if have == nil {
		have = &queue.Class{Invariant: c.Invariant, Severity: c.Severity, First: s.runs + c.First, FirstAfter: max(0, start+c.FirstAfter)}
		s.classes[sig] = have
	}
	have.Count += c.Count
	for _, i := range c.Instances {
		have.Keep(i)
	}
}

// find adds a finding. For each fingerprint the shortest finding is kept. For each signature all
// fully shrunk findings are kept; if there is none, the one that was shrunk furthest, because
// the fingerprint of such a finding depends on where shrinking stopped.
func (s *state) find(k queue.Kept) {
	if old := s.findings[s.of[k.Signature]]; old != nil && old.Fingerprint != k.Fingerprint && min(rank(&old.Kept), rank(&k)) < isSmall {
		if !better(&k, &old.Kept) {
			return
		}
		old.signatures = slices.DeleteFunc(old.signatures, func(sig string) bool { return sig == k.Signature })
		if len(old.signatures) == 0 {
			delete(s.findings, old.Fingerprint)
			s.dropped[old.Fingerprint] = true
		}
	}
	s.of[k.Signature] = k.Fingerprint
	delete(s.dropped, k.Fingerprint)
	have := s.findings[k.Fingerprint]
	if have == nil {
		have = &found{Kept: k}
		s.findings[k.Fingerprint] = have
	} else if better(&k, &have.Kept) {
		have.Kept = k
	}
	if !k.Rough && !slices.ContainsFunc(have.causes, func(c cause.Cause) bool { return c.Key() == k.Cause.Key() }) {
		have.causes = append(have.causes, k.Cause)
	}
	if !slices.Contains(have.signatures, k.Signature) {
		have.signatures = append(have.signatures, k.Signature)
	}
}

// How far a finding is shrunk.
const (
	isRough = iota // as recorded
	isCrowded
	isSmall
)

// rank returns how far a finding is shrunk.
func rank(k *queue.Kept) int {
	switch {
	case k.Rough:
		return isRough
	case k.Crowded():
		return isCrowded
	}
	return isSmall
}

// better reports whether k replaces old.
func better(k, old *queue.Kept) bool {
	if rank(k) != rank(old) {
		return rank(k) > rank(old)
	}
	return shorter(k.Finding, old.Finding)
}

// shorter reports whether a is easier to follow than b. The order is total, so that the same
// findings in another order have the same result.
func shorter(a, b *finding.Finding) bool {
	for _, d := range []int{
		a.Pods - b.Pods, a.Faults - b.Faults, a.Switches - b.Switches, a.Nodes - b.Nodes, a.Steps - b.Steps,
	} {
		if d != 0 {
			return d < 0
		}
	}
	return false
}

// allOver reports whether all schedules of all sources are explored.
func (s *state) allOver(sources int) bool {
	for n := range sources {
		if !s.over[n] {
			return false
		}
	}
	return true
}

// elapsed returns the time since the campaign began.
func (s *state) elapsed(now time.Time) time.Duration {
	if s.epoch == 0 {
		return 0
	}
	return s.before + now.Sub(s.began)
}

// open returns the classes of failures without a shrunk finding, in the order of shrinking: first
// causes before consequences, those without a fault, the most severe, the most frequent.
func (s *state) open() []string {
	var out []string
	for sig := range s.classes {
		if f := s.findings[s.of[sig]]; f == nil || f.Rough {
			out = append(out, sig)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		x, y := s.classes[a], s.classes[b]
		for _, d := range []int{
			number(x.Instances[0].Follows) - number(y.Instances[0].Follows),
			number(x.Instances[0].Faulted) - number(y.Instances[0].Faulted),
			x.Severity.Rank() - y.Severity.Rank(),
			int(y.Count) - int(x.Count),
		} {
			if d != 0 {
				return d
			}
		}
		if a < b {
			return -1
		}
		return 1
	})
	return out
}

// unkept returns the number of classes of failures that have no finding at all.
func (s *state) unkept() (n int) {
	for sig := range s.classes {
		if s.findings[s.of[sig]] == nil {
			n++
		}
	}
	return n
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// defectsMax bounds the reported defects; the others are only counted.
const defectsMax = 5
