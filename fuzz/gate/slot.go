package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"ipamsim/fuzz/process"
	"ipamsim/reports"
	"ipamsim/reports/baseline"
	"ipamsim/scenarios"
)

// task is a run to do, with its result.
type task struct {
	ask
	result int // index of the scenario's result
	weight int
	before *baseline.Run // with the same seed, nil if it is not known
	done   bool
	answer answer
	again  *process.Death // the process died, but not when the run was repeated
	wall   time.Duration
}

// hopeless reports whether the run did not end although it did before. The scenario is red, and
// its other runs may take as long.
func (t *task) hopeless() bool {
	r := t.answer.run()
	return t.done && t.answer.Defect == "" && t.before != nil && t.before.Ended() && !r.Ended()
}

// errLate ends runs when the gate's time is up.
var errLate = errors.New("the gate's time is up")

// do does all tasks, the heaviest first. A worker process uses one store only, so the two runs of
// a seed take place in different processes. Tasks for which no time is left, and those of
// decided scenarios, are not done.
func (h *session) do(ctx context.Context, tasks []*task) error {
	h.mu.Lock()
	h.all += len(tasks)
	h.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer h.progressing(ctx)()
	defer cancel(nil)
	q := &queue{of: map[string][]*task{}}
	for _, t := range slices.SortedStableFunc(slices.Values(tasks), func(a, b *task) int { return b.weight - a.weight }) {
		q.of[t.Store] = append(q.of[t.Store], t)
	}
	var all sync.WaitGroup
	for i := range min(h.Parallel, len(tasks)) {
		stores := []string{scenarios.Etcd, scenarios.Memory}
		if i%2 == 1 {
			slices.Reverse(stores)
		}
		all.Go(func() {
			for _, store := range stores {
				if err := h.line(ctx, q, store); err != nil {
					cancel(err)
				}
			}
		})
	}
	all.Wait()
	return unlessLate(ctx)
}

// unlessLate returns why ctx ended, nil if the time was up.
func unlessLate(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, errLate) {
		return err
	}
	return nil
}

// progressing reports progress now and every progressEvery, also during a long run, until ctx ends.
// The returned function waits for that.
func (h *session) progressing(ctx context.Context) (wait func()) {
	h.reportProgress(0)
	var all sync.WaitGroup
	all.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				h.reportProgress(0)
			}
		}
	})
	return all.Wait
}

// progressEvery is the interval of progress reports.
const progressEvery = time.Second

// queue is the tasks that are not done, by store.
type queue struct {
	mu sync.Mutex
	of map[string][]*task
}

func (q *queue) next(store string) *task {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.of[store]) == 0 {
		return nil
	}
	t := q.of[store][0]
	q.of[store] = q.of[store][1:]
	return t
}

// line does tasks for a store in one worker process after another.
func (h *session) line(ctx context.Context, q *queue, store string) error {
	p := h.place()
	defer p.Clear()
	for ctx.Err() == nil {
		t := q.next(store)
		if t == nil {
			return nil
		}
		if !h.isDecided(t) {
			if err := h.one(ctx, p, t); err != nil {
				return err
			}
			h.decides(t)
		}
		h.reportProgress(1)
	}
	return nil
}

// isDecided reports whether the scenario of a task is red already.
func (h *session) isDecided(t *task) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.decided[t.result]
}

// decides records that a scenario is red after this task.
func (h *session) decides(t *task) {
	if !h.early || !t.hopeless() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.decided[t.result] = true
}

// place returns a place for a worker process of the gate.
func (h *session) place() *process.Place {
	return &process.Place{Start: func() (*process.Handle, error) {
		k, err := process.Start(h.scratch.Path, nil, "gate-process")
		if err != nil {
			return nil, fmt.Errorf("gate: worker process: %w", err)
		}
		return k, nil
	}}
}

// one does one task.
func (h *session) one(ctx context.Context, p *process.Place, t *task) error {
	began := time.Now()
	defer func() { t.wall = time.Since(began) }()
	question := func() (any, process.Answer) {
		t.answer = answer{}
		return t.ask, &t.answer
	}
	first, last, err := p.Ask(ctx, question, func(*process.Death) { h.again(reports.Repeated{Died: 1}) })
	if first != nil && !first.Killed && last == nil {
		t.again = first
	}
	switch t.done = err == nil; {
	case ctx.Err() != nil && err != nil:
		return nil
	case err != nil:
		return err
	case last != nil:
		t.died(last)
	default:
		h.again(t.answer.Repeated)
	}
	return nil
}

// again counts repeated runs.
func (h *session) again(r reports.Repeated) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.repeated.Add(r)
}

// died sets the result of a run that killed its process: a violation if upstream failed, a defect
// if ipamsim did.
func (t *task) died(d *process.Death) {
	if d.Ours {
		t.answer = answer{Defect: d.Cause}
		return
	}
	t.answer = answer{
		Run:  baseline.Run{Seed: t.Seed, Violated: []string{d.Invariant}},
		Seen: map[string]baseline.Seen{d.Invariant: {Severity: "critical", Message: "The process died in the middle of the run: " + d.Cause + "."}},
	}
}

func (h *session) reportProgress(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done += n
	if h.Progress != nil {
		h.Progress(h.done, h.all)
	}
}
