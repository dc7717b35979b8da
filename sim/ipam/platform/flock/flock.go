// Package flock locks files of the program's host.
package flock

import (
	"os"

	"ipamsim/sim/disk"
	"ipamsim/sim/ipam/platform"
)

// Flock is a lock on a file.
type Flock struct {
	path string
	file *disk.File
}

// New is the lock on a file, not yet taken.
func New(path string) *Flock { return &Flock{path: path} }

// Lock waits for it.
func (f *Flock) Lock() error {
	if f.file == nil {
		file, err := platform.Current().Files().OpenFile(f.path, os.O_CREATE|os.O_RDONLY, 0o600)
		if err != nil {
			return err
		}
		f.file = file
	}
	return f.file.Lock()
}

// Unlock gives it up, if it was taken.
func (f *Flock) Unlock() error {
	file := f.file
	if file == nil {
		return nil
	}
	f.file = nil
	return file.Close()
}
