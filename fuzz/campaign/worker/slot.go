package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/process"
)

// slot is a place for one worker process, which executes one shard after another.
type slot struct {
	*team
	process process.Place
	began   time.Time // start of the shard
}

// work takes shards until ctx ends.
func (s *slot) work(ctx context.Context) {
	defer s.process.Clear()
	for ctx.Err() == nil {
		m, err := s.queue.Next(jetstream.FetchMaxWait(time.Second))
		if err != nil {
			if !errors.Is(err, jetstream.ErrNoMessages) && !errors.Is(err, context.DeadlineExceeded) {
				queue.Pause(ctx, 200*time.Millisecond) // the server is unreachable
			}
			continue
		}
		if err := s.take(ctx, m); err != nil {
			s.failed(err)
			return
		}
	}
}

// take executes one shard. It acknowledges the message after the result is stored, so that the
// shard of a worker that dies goes to another.
func (s *slot) take(ctx context.Context, m jetstream.Msg) error {
	var sh queue.Shard
	if json.Unmarshal(m.Data(), &sh) != nil || int64(sh.Epoch) != s.epoch.Load() || s.Has(ctx, sh) {
		return s.ack(m) // of another epoch, or done
	}
	alive, done := context.WithCancel(ctx)
	go func() {
		for alive.Err() == nil {
			queue.Pause(alive, queue.AckEvery)
			_ = m.InProgress() // if this is lost, another worker gets the shard, too; one result counts
		}
	}()
	defer done()
	s.began = time.Now()
	r, err := s.do(ctx, sh)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		_ = m.Nak() // another worker takes the shard immediately
		return nil
	}
	if s.publish(ctx, sh, r) {
		return s.ack(m)
	}
	return nil
}

// publish writes the result of a shard to the log, and retries while the server is unreachable.
func (s *slot) publish(ctx context.Context, sh queue.Shard, r *queue.Result) bool {
	r.Shard, r.Wall = sh, time.Since(s.began)
	for s.Result(ctx, r) != nil {
		if queue.Pause(ctx, 500*time.Millisecond); ctx.Err() != nil {
			return false
		}
	}
	return true
}

// whole explores all schedules of a source in their fixed order. A worker that takes over from
// another starts from the beginning; repeated results count once.
func (s *slot) whole(ctx context.Context, sh queue.Shard, r *queue.Result) error {
	s.process.Clear() // the old worker process is at another position
	began := time.Now()
	for n := sh.From; n < sh.From+sh.Runs && !r.Over && queue.Phase(s.phase.Load()) == queue.Exploring && ctx.Err() == nil; n += queue.WholeRuns {
		part := queue.Shard{Epoch: sh.Epoch, Kind: queue.Explore, Source: sh.Source, From: n, Runs: min(queue.WholeRuns, sh.From+sh.Runs-n)}
		pr := &queue.Result{Classes: map[string]*queue.Class{}}
		s.began = time.Now()
		if sh.Time > 0 {
			part.Time = max(1, sh.Time-s.began.Sub(began))
		}
		if err := s.explore(ctx, part, pr); err != nil {
			return err
		}
		if r.Over = pr.Over; pr.Done > 0 {
			s.publish(ctx, part, pr)
		}
	}
	return nil
}

// ack acknowledges a shard. If the message is lost, the shard comes again and has a result.
func (s *slot) ack(m jetstream.Msg) error { _ = m.Ack(); return nil }

func (s *slot) do(ctx context.Context, sh queue.Shard) (*queue.Result, error) {
	r := &queue.Result{Classes: map[string]*queue.Class{}}
	switch sh.Kind {
	case queue.Explore, queue.Canary:
		if sh.Whole {
			return r, s.whole(ctx, sh, r)
		}
		return r, s.explore(ctx, sh, r)
	case queue.Shrink, queue.Record:
		return r, s.keep(ctx, sh, r)
	case queue.Plan:
		return r, s.runPoints(ctx, sh, r)
	}
	return r, nil
}

// explore runs the seeds of a shard until the time is up.
func (s *slot) explore(ctx context.Context, sh queue.Shard, r *queue.Result) error {
	var seen []queue.Sights
	for ; r.Done < sh.Runs && r.Refused == ""; r.Done++ {
		if sh.Kind == queue.Explore && queue.Phase(s.phase.Load()) != queue.Exploring {
			break
		}
		bound := ctx
		if sh.Kind == queue.Explore {
			bound = s.term()
		}
		q := ask{Source: sh.Source, Seed: sh.From + r.Done}
		if sh.Time > 0 {
			q.Time = max(1, sh.Time-time.Since(s.began))
		}
		a, err := s.run(bound, q, r)
		if err != nil {
			return err
		}
		if bound.Err() != nil {
			s.process.Clear() // its first sightings of this run are not in the log, see queue.Reported
			break             // this run does not count
		}
		if a == nil {
			continue
		}
		if r.Over = a.Over; a.Over {
			break
		}
		count(r, q, a, time.Since(s.began))
		if q.Source >= 0 && s.spec.Sources[q.Source].Space != "" {
			r.Worlds.Add(a.Classes)
		}
		if a.Seen != nil {
			seen = append(seen, *a.Seen)
		}
		if err := s.storeAll(ctx, a.Kept, r); err != nil {
			return err
		}
	}
	return s.cover(ctx, seen)
}

// count adds one run to the result.
func count(r *queue.Result, q ask, a *answer, after time.Duration) {
	r.Steps += a.Steps
	r.Sights.States += a.Sights.States
	r.Sights.Allocators += a.Sights.Allocators
	r.Repeated.Add(a.Repeated)
	if a.Unknown {
		r.Unknown++
	}
	if a.Defect != "" {
		r.Defects = append(r.Defects, a.Defect)
	}
	if a.Refused != "" {
		r.Refused = a.Refused
	}
	for _, h := range a.Hits {
		c := r.Classes[h.Signature]
		if c == nil {
			c = &queue.Class{Invariant: h.Invariant, Severity: h.Severity, First: r.Done + 1, FirstAfter: after}
			r.Classes[h.Signature] = c
		}
		c.Add(queue.Instance{Source: q.Source, Seed: q.Seed, Steps: h.Steps, Faulted: h.Faulted, Follows: h.Follows})
	}
}

// run sends one run to the worker process. If the run kills the process, it is repeated alone in
// a new process, on etcd. If it kills that, too, run returns neither an answer nor an error, and
// adds the death to r.
func (s *slot) run(ctx context.Context, q ask, r *queue.Result) (*answer, error) {
	a := &answer{}
	death := func(d *process.Death) *queue.Death {
		return &queue.Death{Source: q.Source, Seed: q.Seed, Cause: d.Cause}
	}
	question := func() (any, process.Answer) {
		*a = answer{}
		return q, a
	}
	first, last, err := s.process.Ask(ctx, question, func(*process.Death) {
		q.Etcd = true // etcd decides
		r.Repeated.Died++
	})
	switch {
	case ctx.Err() != nil:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("campaign: worker process: %w", err)
	case last != nil && s.spec.Plan():
		return pointDied(last, r), nil
	case last != nil:
		return nil, s.died(ctx, death(last), last, r)
	case first != nil: // the second process survived: the first may have been killed from outside
		r.Deaths = append(r.Deaths, *death(first))
	}
	return a, nil
}

// start starts a worker process without secrets, and sends it the Spec.
func (s *slot) start() (*process.Handle, error) {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, queue.SecretEnv) })
	k, err := process.Start(s.scratch, env, "worker-process")
	if err == nil {
		err = k.Send(ask{Spec: &s.spec})
	}
	return k, err
}

// died records a confirmed death.
func (s *slot) died(ctx context.Context, d *queue.Death, how *process.Death, r *queue.Result) error {
	d.Confirmed, d.First, d.FirstAfter = true, r.Done+1, time.Since(s.began)
	if how.Ours {
		r.Defects = append(r.Defects, fmt.Sprintf("source %d seed %d: ipamsim itself failed: %s", d.Source, d.Seed, d.Cause))
		return nil
	}
	sc, err := s.spec.World(s.managers, d.Source, d.Seed, nil)
	if err != nil {
		return err
	}
	f, err := CrashFinding(d, how, s.spec, sc)
	if err != nil {
		return err
	}
	k := &queue.Kept{Signature: f.Fingerprint, Finding: f}
	err = s.file(ctx, k)
	d.Kept = k
	r.Deaths = append(r.Deaths, *d)
	return err
}

// keep shrinks a failure, or records it as it is if shrinking does not end in time.
func (s *slot) keep(ctx context.Context, sh queue.Shard, r *queue.Result) error {
	q := ask{Source: sh.Source, Seed: sh.From, Signature: sh.Signature, Shrink: sh.Kind == queue.Shrink, Time: sh.Time}
	bound, cancel := context.WithTimeout(ctx, sh.Time+keepMax)
	a, err := s.run(bound, q, r)
	cancel()
	if a == nil && err == nil && ctx.Err() == nil && q.Shrink {
		q.Shrink = false
		a, err = s.run(ctx, q, r)
	}
	if err != nil || a == nil {
		return err
	}
	r.Repeated.Add(a.Repeated)
	if a.Defect != "" {
		r.Defects = append(r.Defects, a.Defect)
	}
	return s.storeAll(ctx, a.Kept, r)
}

// keepMax is the time for the steps around shrinking, on a busy machine.
const keepMax = 15 * time.Second

// storeAll stores the findings of an answer.
func (s *slot) storeAll(ctx context.Context, all []queue.Kept, r *queue.Result) (err error) {
	for _, k := range all {
		if err = s.file(ctx, &k); err != nil {
			return err
		}
		r.Kept = append(r.Kept, k)
	}
	return nil
}

// file moves the files of a finding to the object store.
func (s *slot) file(ctx context.Context, k *queue.Kept) error {
	files := maps.Clone(k.Pages)
	if files == nil {
		files = map[string][]byte{}
	}
	files[finding.File(k.Fingerprint)] = k.YAML
	k.Objects, k.Pages, k.YAML = map[string]string{}, nil, nil
	for _, name := range slices.Sorted(maps.Keys(files)) {
		object, err := s.Store(ctx, name, files[name])
		if err != nil {
			return err
		}
		k.Objects[name] = object
	}
	return nil
}

// cover writes the sights of runs to the log, in messages of limited size.
func (s *slot) cover(ctx context.Context, seen []queue.Sights) error {
	for len(seen) > 0 && ctx.Err() == nil {
		n, size := 1, seen[0].Size()
		for n < len(seen) && size+seen[n].Size() <= coverMax {
			size += seen[n].Size()
			n++
		}
		if err := s.Write(ctx, "cover", queue.Event{Cover: seen[:n]}); err != nil {
			queue.Pause(ctx, 500*time.Millisecond)
			continue
		}
		seen = seen[n:]
	}
	return nil
}

// coverMax is the limit of hashes in a message, in bytes. As JSON that is a fifth of what a NATS
// server accepts by default.
const coverMax = 140_000
