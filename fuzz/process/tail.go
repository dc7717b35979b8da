package process

import (
	"fmt"
	"sync"
)

// Tail keeps the beginning and the end of what a process wrote to stderr since the last mark. The
// beginning has the message of a panic.
type Tail struct {
	mu          sync.Mutex
	first, last []byte
	lost        int
}

const tailMax = 64 << 10

// Write never fails.
func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := min(len(b), tailMax-len(t.first))
	t.first = append(t.first, b[:n]...)
	t.last = append(t.last, b[n:]...)
	if more := len(t.last) - tailMax; more > tailMax {
		t.lost += more
		t.last = append(t.last[:0], t.last[more:]...)
	}
	return len(b), nil
}

// mark discards what was written so far.
func (t *Tail) mark() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.first, t.last, t.lost = t.first[:0], t.last[:0], 0
}

// String returns the kept text.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost > 0 {
		return fmt.Sprintf("%s\n[%d bytes left out]\n%s", t.first, t.lost, t.last)
	}
	return string(t.first) + string(t.last)
}
