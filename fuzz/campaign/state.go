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

// state is what the log has recorded so far.
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
	before  time.Duration        // what earlier epochs took
	ended   string               // why the campaign came to its end, if it did
	worked  time.Duration        // what earlier epochs took, all of them
	series  series

	runs, unknown  uint64
	worlds         space.Tally
	steps          int
	busy           time.Duration // of all workers together, exploring
	pairs          map[uint64]struct{}
	states         coverage.Sightings
	allocators     coverage.Sightings
	early          map[coverage.Run][]queue.Sights // of runs that do not count yet
	over           map[int]bool                    // sources that are exhausted
	classes        map[string]*queue.Class
	findings       map[string]*found
	of             map[string]string           // fingerprint by signature
	tries          map[string]map[place]string // fingerprints by signature and run; "" for a try without effect
	dropped        map[string]bool             // fingerprints of rough findings for which there are small ones
	deaths         []queue.Death
	defects        []string
	defective      int
	refused        string
	shrunk         int
	shrinking      time.Duration // all of them together
	recorded       int
	recording      time.Duration
	caught, missed uint64 // canaries
	repeated       reports.Repeated
	canary         bool   // the canary shard is done
	parts          []part // points of a plan that are done, by their numbers
}

// found is a finding with what the campaign knows about it.
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

// apply takes in the next event of the log, and reports whether it counts.
func (s *state) apply(e queue.Event, at time.Time) bool {
	switch {
	case e.Epoch != nil:
		if s.epoch > 0 {
			s.before += s.last.Sub(s.began)
			s.worked += s.last.Sub(s.began)
		}
		if s.ended != "" {
			s.before = 0 // a new stretch of time
		}
		s.epoch, s.began, s.took, s.ended, s.refused = *e.Epoch, at, map[string]bool{}, "", ""
	case e.Cover != nil:
		for _, x := range e.Cover {
			s.sees(x)
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
		if r.Shard.Kind == queue.Explore { // elsewhere it is one that was counted before
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
		s.lived(r)
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
	s.saw(r)
}

// count adds the failures of one kind of a shard that began at start.
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

// find files a finding: the shortest of those with one fingerprint. Of those with one
// signature it keeps all that are small; else the one that is nearest to it, for the
// fingerprint of the others says where they were cut, and not which cause they have.
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

// How far a finding was shrunk.
const (
	isRough = iota // as recorded
	isCrowded
	isSmall
)

// rank returns how far a finding was shrunk.
func rank(k *queue.Kept) int {
	switch {
	case k.Rough:
		return isRough
	case k.Crowded():
		return isCrowded
	}
	return isSmall
}

// better reports whether k is to be kept rather than old.
func better(k, old *queue.Kept) bool {
	if rank(k) != rank(old) {
		return rank(k) > rank(old)
	}
	return shorter(k.Finding, old.Finding)
}

// shorter: what a reader has to follow. The rest makes the order total, so that
// the same findings in another order leave the same one.
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

// allOver reports whether nothing is left of any source.
func (s *state) allOver(sources int) bool {
	for n := range sources {
		if !s.over[n] {
			return false
		}
	}
	return true
}

// elapsed is how long the campaign has been at work.
func (s *state) elapsed(now time.Time) time.Duration {
	if s.epoch == 0 {
		return 0
	}
	return s.before + now.Sub(s.began)
}

// open are the classes of failures without a small finding, the promising ones first:
// first causes, then those without a fault, then the gravest, then the most frequent.
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

// unkept is how many classes of failures have no finding, not even as recorded.
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
