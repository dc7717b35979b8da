package platform

import (
	"context"
	"strings"
	"sync"
)

// Host is what the programs of one machine have in common: files, and the locks on
// them. It outlives them, and a reboot.
type Host struct {
	mu    sync.Mutex // not held while waiting
	files map[string][]byte
	locks map[string]chan struct{}
}

// NewHost is a machine with these files, by their paths.
func NewHost(files map[string][]byte) *Host {
	return &Host{files: files, locks: map[string]chan struct{}{}}
}

// Read is the content of a file.
func (h *Host) Read(path string) (content []byte, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	content, ok = h.files[path]
	return content, ok
}

// Folder reports whether a file lies somewhere under the path.
func (h *Host) Folder(path string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	under := strings.TrimSuffix(path, "/") + "/"
	for file := range h.files {
		if strings.HasPrefix(file, under) {
			return true
		}
	}
	return false
}

// Write makes a file, or another content of it.
func (h *Host) Write(path string, content []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.files[path] = content
}

// Lock waits for the lock on a file in virtual time. The order is that of asking. It
// returns an error only if the process, whose context is ctx, died.
//
// Like a real one the lock is free again as soon as its holder is dead, whatever of it
// still unwinds.
func (h *Host) Lock(ctx context.Context, path string) (release func(), err error) {
	file := h.lock(path)
	select {
	case file <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	release = sync.OnceFunc(func() { <-file })
	context.AfterFunc(ctx, release)
	return release, nil
}

func (h *Host) lock(path string) chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.locks[path]
	if f == nil {
		f = make(chan struct{}, 1)
		h.locks[path] = f
	}
	return f
}
