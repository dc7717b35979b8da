package calico

import (
	"context"
	"sync"
)

// hostLocks are the files that the CNI plugins of one host lock, so that only one
// of them allocates or releases at a time. calico-node does not take the lock.
//
// Like a file lock it is free again as soon as its holder is dead, whatever of it
// still unwinds.
//
// Source: cni-plugin/pkg/ipamplugin/ipam_plugin.go, acquireIPAMLockBestEffort.
type hostLocks struct {
	mu    sync.Mutex // not held while waiting
	files map[string]chan struct{}
}

// acquire waits for the lock of a host in virtual time. The order is that of
// asking. It returns an error only if the process, whose context is ctx, died.
func (l *hostLocks) acquire(ctx context.Context, host string) (release func(), err error) {
	file := l.file(host)
	select {
	case file <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	release = sync.OnceFunc(func() { <-file })
	context.AfterFunc(ctx, release)
	return release, nil
}

func (l *hostLocks) file(host string) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.files[host]
	if f == nil {
		if l.files == nil {
			l.files = map[string]chan struct{}{}
		}
		f = make(chan struct{}, 1)
		l.files[host] = f
	}
	return f
}
