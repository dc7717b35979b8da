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

// task is one run to do, and what came of it.
type task struct {
	ask
	result int // whose
	weight int
	before *baseline.Run // of the same seed, nil if nobody knows
	done   bool
	answer answer
	again  *process.Death // it died, and not the second time
	wall   time.Duration
}

// hopeless: it came to no end where it did before. What else is run of its scenario
// may take as long, and changes nothing.
func (t *task) hopeless() bool {
	r := t.answer.run()
	return t.done && t.answer.Defect == "" && t.before != nil && t.before.Ended() && !r.Ended()
}

// errLate ends what a gate has no time for.
var errLate = errors.New("the gate's time is up")

// do all tasks, the heaviest first. A worker process works on one store only: the second run
// of a scenario never takes place in the process of the first. Those that there is no
// time for, and those of scenarios that are decided, are not done.
func (h *session) do(ctx context.Context, tasks []*task) error {
	h.mu.Lock()
	h.all += len(tasks)
	h.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer h.living(ctx)()
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

// unlessLate is why ctx ended, nil if the time was up.
func unlessLate(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, errLate) {
		return err
	}
	return nil
}

// living tells now and every while that there is progress, also while a single run
// takes long, until ctx ends and what it returns is called.
func (h *session) living(ctx context.Context) (wait func()) {
	h.tell(0)
	var all sync.WaitGroup
	all.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				h.tell(0)
			}
		}
	})
	return all.Wait
}

// progressEvery is the period of progress lines.
const progressEvery = time.Second

// queue of what is left to do, by store.
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

// line does what is left for a store in a worker process of its own.
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
		h.tell(1)
	}
	return nil
}

// isDecided reports whether nobody need know what comes of a task.
func (h *session) isDecided(t *task) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.decided[t.result]
}

// decides takes note of a task after which its scenario is red whatever comes.
func (h *session) decides(t *task) {
	if !h.early || !t.hopeless() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.decided[t.result] = true
}

// place for worker processes of the gate.
func (h *session) place() *process.Place {
	return &process.Place{Start: func() (*process.Handle, error) {
		k, err := process.Start(h.scratch.Path, nil, "gate-process")
		if err != nil {
			return nil, fmt.Errorf("gate: worker process: %w", err)
		}
		return k, nil
	}}
}

// one task.
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

// again counts runs that were done more than once.
func (h *session) again(r reports.Repeated) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.repeated.Add(r)
}

// died: that is what came of the run, if it was upstream that failed.
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

func (h *session) tell(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done += n
	if h.Progress != nil {
		h.Progress(h.done, h.all)
	}
}
