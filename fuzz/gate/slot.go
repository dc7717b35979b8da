package gate

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"ipamsim/fuzz/cell"
	"ipamsim/reports/baseline"
	"ipamsim/scenarios"
)

// task is one run to do, and what came of it.
type task struct {
	ask
	result int // whose
	weight int
	answer answer
	again  *cell.Death // it died, and not the second time
	wall   time.Duration
}

// do all tasks, the heaviest first. A cell works on one store only: the second run
// of a scenario never takes place in the process of the first.
func (h *hall) do(ctx context.Context, tasks []*task) error {
	h.mu.Lock()
	h.all += len(tasks)
	h.mu.Unlock()
	h.tell(0)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	q := &queue{of: map[string][]*task{}}
	for _, t := range slices.SortedStableFunc(slices.Values(tasks), func(a, b *task) int { return b.weight - a.weight }) {
		q.of[t.Store] = append(q.of[t.Store], t)
	}
	var all sync.WaitGroup
	for i := range min(h.Cells, len(tasks)) {
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
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

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

// line does what is left for a store in a cell of its own.
func (h *hall) line(ctx context.Context, q *queue, store string) (err error) {
	var k *cell.Keeper
	defer func() {
		if k != nil {
			k.Kill()
		}
	}()
	for ctx.Err() == nil {
		t := q.next(store)
		if t == nil {
			return nil
		}
		if k, err = h.one(ctx, k, t); err != nil {
			return err
		}
		h.tell(1)
	}
	return nil
}

// one task. A run that takes its cell along is done again in a fresh one: if it
// dies again, that is what came of it.
func (h *hall) one(ctx context.Context, k *cell.Keeper, t *task) (*cell.Keeper, error) {
	began := time.Now()
	defer func() { t.wall = time.Since(began) }()
	var first *cell.Death
	for deaths := 0; ; deaths++ {
		var err error
		if k == nil {
			if k, err = cell.Start(h.scratch.Dir, nil, "gate-cell"); err != nil {
				return nil, fmt.Errorf("gate: cell: %w", err)
			}
		}
		t.answer = answer{}
		d := k.Ask(ctx, t.ask, &t.answer)
		if ctx.Err() != nil || d == nil {
			if first != nil && !first.Killed {
				t.again = first
			}
			return k, nil
		}
		k = nil
		if first == nil || d.Killed && deaths < 2 { // anybody may be shot twice
			first = d
			continue
		}
		t.died(d)
		return nil, nil
	}
}

// died: that is what came of the run, if it was upstream that failed.
func (t *task) died(d *cell.Death) {
	if d.Ours {
		t.answer = answer{Defect: d.Cause}
		return
	}
	t.answer = answer{
		Run:  baseline.Run{Seed: t.Seed, Violated: []string{d.Invariant}},
		Seen: map[string]baseline.Seen{d.Invariant: {Severity: "critical", Message: "The process died in the middle of the run: " + d.Cause + "."}},
	}
}

func (h *hall) tell(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done += n
	if h.Progress != nil {
		h.Progress(h.done, h.all)
	}
}
