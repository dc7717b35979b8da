// Package flock locks files of the program's host.
package flock

import "ipamsim/sim/ipam/platform"

// Flock is a lock on a file.
type Flock struct {
	path    string
	release func()
}

// New is the lock on a file, not yet taken.
func New(path string) *Flock { return &Flock{path: path} }

// Lock waits for it.
func (f *Flock) Lock() (err error) {
	p := platform.Current()
	f.release, err = p.Host.Lock(p.Ctx, f.path)
	return err
}

// Unlock gives it up.
func (f *Flock) Unlock() error {
	f.release()
	return nil
}
