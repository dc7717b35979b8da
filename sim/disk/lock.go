package disk

import (
	"context"
	"errors"
	"slices"
	"sync"
	"syscall"

	"ipamsim/model/act"
)

// lock is the flock of one inode. It belongs to open files, not to processes: two open files
// of one process exclude each other.
type lock struct {
	exclusive bool
	held      []*File
	waiting   []*wait // in order of arrival
}

type wait struct {
	file  *File
	woken bool
	free  chan struct{} // closed when the lock may be free
}

// Lock waits for the exclusive lock of the file. Waiting processes retry when it is released,
// and the schedule chooses the first; processes without a gate get it in order of arrival. The
// lock is released when the file is closed or its process ends.
//
// It returns the error of the process's context if the process died.
func (f *File) Lock() error { return f.lock(true, true) }

// RLock waits for a shared lock of the file.
func (f *File) RLock() error { return f.lock(false, true) }

// TryLock takes the exclusive lock if it is free; else the error is EWOULDBLOCK.
func (f *File) TryLock() error { return f.lock(true, false) }

func (f *File) lock(exclusive, patient bool) error {
	d, ctx := f.process.disk, f.process.ctx
	w := &wait{file: f}
	for {
		took := false
		err := f.pass("flock", act.Lock, reading, func(*Access, *inode) error {
			if took = d.take(f, exclusive); !took {
				if patient {
					d.wait(w)
				}
				return syscall.EWOULDBLOCK
			}
			return nil
		})
		switch {
		case took:
			context.AfterFunc(ctx, f.released())
			return nil
		case !patient || !errors.Is(err, syscall.EWOULDBLOCK):
			return err
		}
		select {
		case <-w.free:
		case <-ctx.Done():
			d.forget(w)
			return ctx.Err()
		}
	}
}

// take gives the lock to a file if that is possible now.
func (d *Disk) take(f *File, exclusive bool) bool {
	l := d.locks[f.number]
	if l == nil {
		l = &lock{}
		d.locks[f.number] = l
	}
	others := slices.DeleteFunc(slices.Clone(l.held), func(h *File) bool { return h == f })
	if len(others) > 0 && (exclusive || l.exclusive) || l.queued(f) {
		return false
	}
	l.held, l.exclusive, f.held = append(others, f), exclusive, l
	l.waiting = slices.DeleteFunc(l.waiting, func(w *wait) bool { return w.file == f })
	return true
}

// queued reports whether a process without a gate waits longer.
func (l *lock) queued(f *File) bool {
	return len(l.waiting) > 0 && l.waiting[0].file.process.gate == nil && l.waiting[0].file != f
}

// wait makes a file wait for the next release of the lock.
func (d *Disk) wait(w *wait) {
	l := d.locks[w.file.number]
	w.free, w.woken = make(chan struct{}), false
	if !slices.Contains(l.waiting, w) {
		l.waiting = append(l.waiting, w)
	}
}

func (d *Disk) forget(w *wait) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.locks[w.file.number]; l != nil {
		l.waiting = slices.DeleteFunc(l.waiting, func(x *wait) bool { return x == w })
		l.wake()
	}
}

// Unlock releases the lock. It is a message if there is a lock.
func (f *File) Unlock() error {
	if f.held == nil {
		return nil
	}
	return f.pass("flock", act.Unlock, reading, func(*Access, *inode) error {
		f.release()
		return nil
	})
}

// released releases the lock of an ended process.
func (f *File) released() func() {
	d, l := f.process.disk, f.held
	return sync.OnceFunc(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if f.held == l {
			f.release()
		}
	})
}

func (f *File) release() {
	l := f.held
	if l == nil {
		return
	}
	f.held = nil
	l.held = slices.DeleteFunc(l.held, func(h *File) bool { return h == f })
	l.wake()
}

// wake makes the waiting files retry: a process without a gate keeps its place until it has
// the lock; the others lose theirs, because the schedule decides.
func (l *lock) wake() {
	if len(l.held) > 0 && l.exclusive {
		return
	}
	for len(l.waiting) > 0 {
		w := l.waiting[0]
		if !w.woken {
			close(w.free)
			w.woken = true
		}
		if w.file.process.gate == nil {
			return
		}
		l.waiting = l.waiting[1:]
	}
}
