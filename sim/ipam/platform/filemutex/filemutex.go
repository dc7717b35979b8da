// Package filemutex locks files of the program's host.
//
// Source: github.com/alexflint/go-filemutex, filemutex_flock.go (v1.3.0).
package filemutex

import (
	"os"

	"ipamsim/sim/disk"
	"ipamsim/sim/ipam/platform"
)

// FileMutex is the lock on a file. Its methods are those of an embedded field, so that a program
// that calls them on a nil FileMutex panics itself, and not in here.
type FileMutex struct{ lock }

type lock struct{ file *disk.File }

// New opens the file, or makes it.
func New(path string) (*FileMutex, error) {
	f, err := platform.Current().Files().OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o750)
	if err != nil {
		return nil, err
	}
	return &FileMutex{lock{f}}, nil
}

// Lock waits for it.
func (m *lock) Lock() error { return m.file.Lock() }

// Unlock gives it up.
func (m *lock) Unlock() error { return m.file.Unlock() }

// Close gives it up for good.
func (m *lock) Close() error { return m.file.Close() }
