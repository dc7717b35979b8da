package campaign

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

	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/process"
)

// slot is one place for a cell, and what happens there: one shard after another.
type slot struct {
	*crew
	cell  process.Place
	began time.Time // the shard
}

// work takes shards until ctx ends.
func (s *slot) work(ctx context.Context) {
	defer s.cell.Clear()
	for ctx.Err() == nil {
		m, err := s.shards.Next(jetstream.FetchMaxWait(time.Second))
		if err != nil {
			if !errors.Is(err, jetstream.ErrNoMessages) && !errors.Is(err, context.DeadlineExceeded) {
				pause(ctx, 200*time.Millisecond) // the server is away
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
	var sh Shard
	if json.Unmarshal(m.Data(), &sh) != nil || int64(sh.Epoch) != s.epoch.Load() || s.has(ctx, sh) {
		return s.ack(m) // of another time, or done
	}
	alive, done := context.WithCancel(ctx)
	go func() {
		for alive.Err() == nil {
			pause(alive, ackEvery)
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
func (s *slot) bring(ctx context.Context, sh Shard, r *Result) bool {
	r.Shard, r.Wall = sh, time.Since(s.began)
	for s.result(ctx, r) != nil {
		if pause(ctx, 500*time.Millisecond); ctx.Err() != nil {
			return false
		}
	}
	return true
}

// whole explores a source in the one order there is. A worker that takes over
// from another begins anew, and what it brings again counts once.
func (s *slot) whole(ctx context.Context, sh Shard, r *Result) error {
	s.cell.Clear() // it was elsewhere
	began := time.Now()
	for n := sh.From; n < sh.From+sh.Runs && !r.Over && phase(s.phase.Load()) == exploring && ctx.Err() == nil; n += wholeRuns {
		part := Shard{Epoch: sh.Epoch, Kind: Explore, Source: sh.Source, From: n, Runs: min(wholeRuns, sh.From+sh.Runs-n)}
		pr := &Result{Classes: map[string]*Class{}}
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

// wholeRuns are told of at a time.
const wholeRuns = 50

// ack says that a shard is done; if that is lost it comes again and has a result.
func (s *slot) ack(m jetstream.Msg) error { _ = m.Ack(); return nil }

func (s *slot) do(ctx context.Context, sh Shard) (*Result, error) {
	r := &Result{Classes: map[string]*Class{}}
	switch sh.Kind {
	case Explore, Canary:
		if sh.Whole {
			return r, s.whole(ctx, sh, r)
		}
		return r, s.explore(ctx, sh, r)
	case Shrink, Record:
		return r, s.keep(ctx, sh, r)
	case Plan:
		return r, s.live(ctx, sh, r)
	}
	return r, nil
}

// explore runs the seeds of a shard, as many as there is time for.
func (s *slot) explore(ctx context.Context, sh Shard, r *Result) error {
	var seen []sights
	for ; r.Done < sh.Runs && r.Refused == ""; r.Done++ {
		if sh.Kind == Explore && phase(s.phase.Load()) != exploring {
			break
		}
		bound := ctx
		if sh.Kind == Explore {
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
			s.cell.Clear() // what it noted of this run, nobody is told
			break          // this one does not count
		}
		if a == nil {
			continue
		}
		if r.Over = a.Over; a.Over {
			break
		}
		r.add(q, a, time.Since(s.began))
		if q.Source >= 0 && s.spec.Sources[q.Source].Space != "" {
			r.Worlds.Add(a.Deeds)
		}
		if a.Seen != nil {
			seen = append(seen, *a.Seen)
		}
		if err := s.store(ctx, a.Kept, r); err != nil {
			return err
		}
	}
	return s.cover(ctx, seen)
}

// add counts one run.
func (r *Result) add(q ask, a *answer, after time.Duration) {
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
			c = &Class{Invariant: h.Invariant, Severity: h.Severity, First: r.Done + 1, FirstAfter: after}
			r.Classes[h.Signature] = c
		}
		c.add(Instance{q.Source, q.Seed, h.Steps, h.Faulted, h.Follows})
	}
}

// run is one question, with what happens if it kills the cell: the run is done
// again alone in a fresh one, on etcd. No answer and no error means that it died for good,
// which r then says.
func (s *slot) run(ctx context.Context, q ask, r *Result) (*answer, error) {
	a := &answer{}
	death := func(d *process.Death) *Death {
		return &Death{Source: q.Source, Seed: q.Seed, Cause: d.Cause, how: *d}
	}
	question := func() (any, process.Answer) {
		*a = answer{}
		return q, a
	}
	first, last, err := s.cell.Ask(ctx, question, func(*process.Death) {
		q.Etcd = true // which is the judge
		r.Repeated.Died++
	})
	switch {
	case ctx.Err() != nil:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("campaign: cell: %w", err)
	case last != nil && s.spec.plan():
		return gone(last, r), nil
	case last != nil:
		return nil, s.died(ctx, death(last), r)
	case first != nil: // it does not die every time: the world around it may have killed it
		r.Deaths = append(r.Deaths, *death(first))
	}
	return a, nil
}

// start a cell, which gets no secrets and knows what is searched.
func (s *slot) start() (*process.Handle, error) {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, secretEnv) })
	k, err := process.Start(s.scratch, env, "cell")
	if err == nil {
		err = k.Tell(ask{Spec: &s.spec})
	}
	return k, err
}

// died files a confirmed death.
func (s *slot) died(ctx context.Context, d *Death, r *Result) error {
	d.Confirmed, d.First, d.FirstAfter = true, r.Done+1, time.Since(s.began)
	if d.how.Ours {
		r.Defects = append(r.Defects, fmt.Sprintf("source %d seed %d: ipamsim itself failed: %s", d.Source, d.Seed, d.Cause))
		return nil
	}
	sc, err := s.spec.world(s.managers, d.Source, d.Seed, nil)
	if err != nil {
		return err
	}
	f, err := d.finding(s.spec, sc)
	if err != nil {
		return err
	}
	k := &Kept{Signature: f.Fingerprint, Finding: f}
	err = s.file(ctx, k)
	d.Kept = k
	r.Deaths = append(r.Deaths, *d)
	return err
}

// keep makes a failure small, or keeps it as it is if that does not work out.
func (s *slot) keep(ctx context.Context, sh Shard, r *Result) error {
	q := ask{Source: sh.Source, Seed: sh.From, Signature: sh.Signature, Shrink: sh.Kind == Shrink, Time: sh.Time}
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
	return s.store(ctx, a.Kept, r)
}

// keepMax is for what shrinking does besides, on a machine that is busy.
const keepMax = 15 * time.Second

// store the findings of an answer.
func (s *slot) store(ctx context.Context, all []Kept, r *Result) (err error) {
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
func (s *slot) file(ctx context.Context, k *Kept) error {
	files := maps.Clone(k.Pages)
	if files == nil {
		files = map[string][]byte{}
	}
	files[finding.File(k.Fingerprint)] = k.YAML
	k.Objects, k.Pages, k.YAML = map[string]string{}, nil, nil
	for _, name := range slices.Sorted(maps.Keys(files)) {
		object := name + "-" + digest(files[name])
		if _, err := s.objects.PutBytes(ctx, object, files[name]); err != nil {
			return s.wrap(err)
		}
		k.Objects[name] = object
	}
	return nil
}

// cover writes what runs saw into the log, in messages that are not too long.
func (s *slot) cover(ctx context.Context, seen []sights) error {
	for len(seen) > 0 && ctx.Err() == nil {
		n, size := 1, seen[0].size()
		for n < len(seen) && size+seen[n].size() <= coverMax {
			size += seen[n].size()
			n++
		}
		if err := s.write(ctx, "cover", event{Cover: seen[:n]}); err != nil {
			pause(ctx, 500*time.Millisecond)
			continue
		}
		seen = seen[n:]
	}
	return nil
}

// coverMax bytes of hashes, with what JSON makes of them, are a fifth of what a server takes by
// default.
const coverMax = 140_000
