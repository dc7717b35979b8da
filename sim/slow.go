package sim

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Slowness is for how long a simulated server keeps each request waiting: as long as the
// slowest of what slows it down now. The zero value does not.
type Slowness struct {
	mu sync.Mutex
	by []time.Duration
}

// Add slows the server down; the function ends that.
func (s *Slowness) Add(by time.Duration) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.by = append(s.by, by)
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		i := slices.Index(s.by, by)
		s.by = slices.Delete(s.by, i, i+1)
	})
}

// Wait delays a request. It returns the error of the context if that ends first.
func (s *Slowness) Wait(ctx context.Context) error {
	s.mu.Lock()
	by := slices.Max(append([]time.Duration{0}, s.by...))
	s.mu.Unlock()
	if by == 0 {
		return nil
	}
	t := time.NewTimer(by)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
