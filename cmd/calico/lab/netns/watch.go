package netns

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// change is one route of the kernel's table that came or went.
type change struct {
	at    time.Time
	added bool
	dst   netip.Prefix // the zero Prefix is the default route
}

// Watch follows the kernel's routing table of a namespace. It reports when the table last changed,
// and the changes since the last reset.
type Watch struct {
	mu      sync.Mutex
	last    time.Time
	changes []change
	arrived chan struct{} // holds a token after a change, until it is read
	failed  error
	done    chan struct{}
}

// Watch begins to listen, until Close.
func (s *Space) Watch() (*Watch, error) {
	w := &Watch{last: time.Now(), arrived: make(chan struct{}, 1), done: make(chan struct{})}
	updates := make(chan netlink.RouteUpdate, 256)
	err := s.in(func() error {
		return netlink.RouteSubscribeWithOptions(updates, w.done, netlink.RouteSubscribeOptions{ErrorCallback: w.fail})
	})
	if err != nil {
		return nil, fmt.Errorf("watch routes: %w", err)
	}
	go func() {
		for u := range updates {
			w.add(u)
		}
	}()
	return w, nil
}

// Close ends it.
func (w *Watch) Close() { close(w.done) }

func (w *Watch) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = err
}

func (w *Watch) add(u netlink.RouteUpdate) {
	if u.Table != unix.RT_TABLE_MAIN {
		return
	}
	c := change{at: time.Now(), added: u.Type == unix.RTM_NEWROUTE}
	if u.Dst != nil {
		a, _ := netip.AddrFromSlice(u.Dst.IP)
		bits, _ := u.Dst.Mask.Size()
		c.dst = netip.PrefixFrom(a.Unmap(), bits)
	}
	w.mu.Lock()
	w.last = c.at
	w.changes = append(w.changes, c)
	w.mu.Unlock()
	select {
	case w.arrived <- struct{}{}:
	default:
	}
}

// QuietSince is when the table last changed.
func (w *Watch) QuietSince() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// Forget drops the changes up to now.
func (w *Watch) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changes = nil
}

// Wait returns when the route to dst first came, or went, since forget, if it
// does within the time.
func (w *Watch) Wait(dst netip.Prefix, added bool, within time.Duration) (time.Time, error) {
	deadline := time.After(within)
	for {
		w.mu.Lock()
		changes, failed := w.changes, w.failed
		w.mu.Unlock()
		for _, c := range changes {
			if c.dst == dst && c.added == added {
				return c.at, nil
			}
		}
		if failed != nil {
			return time.Time{}, fmt.Errorf("watch routes: %w", failed)
		}
		select {
		case <-w.arrived:
		case <-deadline:
			verb := map[bool]string{true: "come", false: "go"}[added]
			return time.Time{}, fmt.Errorf("route %s did not %s within %v", dst, verb, within)
		}
	}
}
