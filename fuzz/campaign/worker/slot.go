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

// slot is one place for a worker process, and what happens there: one shard after another.
type slot struct {
	*team
	process process.Place
	began   time.Time // the shard
}

// work takes shards until ctx ends.
func (s *slot) work(ctx context.Context) {
	defer s.process.Clear()
	for ctx.Err() == nil {
		m, err := s.queue.Next(jetstream.FetchMaxWait(time.Second))
		if err != nil {
			if !errors.Is(err, jetstream.ErrNoMessages) && !errors.Is(err, context.DeadlineExceeded) {
				queue.Pause(ctx, 200*time.Millisecond) // the server is away
			}
			continue
		}
		if err := s.take(ctx, m); err != nil {
			s.failed(err)
			return
		}
	}
}

// take does one shard. The message is acknowledged when the result is stored, so
// that a shard of a worker that dies goes to another.
func (s *slot) take(ctx context.Context, m jetstream.Msg) error {
	var sh queue.Shard
	if json.Unmarshal(m.Data(), &sh) != nil || int64(sh.Epoch) != s.epoch.Load() || s.Has(ctx, sh) {
		return s.ack(m) // of another time, or done
	}
	alive, done := context.WithCancel(ctx)
	go func() {
		for alive.Err() == nil {
			queue.Pause(alive, queue.AckEvery)
			_ = m.InProgress() // if nobody hears, somebody else gets it as well, and one of both counts
		}
	}()
	defer done()
	s.began = time.Now()
	r, err := s.do(ctx, sh)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		_ = m.Nak() // somebody else, at once
		return nil
	}
	if s.bring(ctx, sh, r) {
		return s.ack(m)
	}
	return nil
}

// bring the result of a shard to the log, however long the server is away.
func (s *slot) bring(ctx context.Context, sh queue.Shard, r *queue.Result) bool {
	r.Shard, r.Wall = sh, time.Since(s.began)
	for s.Result(ctx, r) != nil {
		if queue.Pause(ctx, 500*time.Millisecond); ctx.Err() != nil {
			return false
		}
	}
	return true
}

// whole explores a source in the one order there is. A worker that takes over
// from another starts again; repeated results count once.
func (s *slot) whole(ctx context.Context, sh queue.Shard, r *queue.Result) error {
	s.process.Clear() // it was elsewhere
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
			s.bring(ctx, part, pr)
		}
	}
	return nil
}

// ack says that a shard is done; if that is lost it comes again and has a result.
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
		return r, s.live(ctx, sh, r)
	}
	return r, nil
}

// explore runs the seeds of a shard, as many as there is time for.
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
			s.process.Clear() // what it noted of this run, nobody is told
			break             // this one does not count
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

// count counts one run.
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

// run is one question, with what happens if it kills the worker process: the run is done
// again alone in a fresh one, on etcd. No answer and no error means that it died for good,
// which r then says.
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
		q.Etcd = true // which is the judge
		r.Repeated.Died++
	})
	switch {
	case ctx.Err() != nil:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("campaign: worker process: %w", err)
	case last != nil && s.spec.Plan():
		return gone(last, r), nil
	case last != nil:
		return nil, s.died(ctx, death(last), last, r)
	case first != nil: // it does not die every time: the world around it may have killed it
		r.Deaths = append(r.Deaths, *death(first))
	}
	return a, nil
}

// start a worker process, which gets no secrets and knows what is searched.
func (s *slot) start() (*process.Handle, error) {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, queue.SecretEnv) })
	k, err := process.Start(s.scratch, env, "worker-process")
	if err == nil {
		err = k.Send(ask{Spec: &s.spec})
	}
	return k, err
}

// died files a confirmed death.
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

// keep makes a failure small, or keeps it as it is if that does not work out.
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

// keepMax is for what shrinking does besides, on a machine that is busy.
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

// file puts the files of a finding into the object store and takes them out of the
// finding.
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

// cover writes what runs saw into the log, in messages that are not too long.
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

// coverMax bytes of hashes, with what JSON makes of them, are a fifth of what a server takes by
// default.
const coverMax = 140_000
