package cell

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// Scratch is a directory in memory for the etcds of cells. It is locked as long as
// the process that holds them lives, so that whoever comes later can tell what was
// left behind and remove it.
type Scratch struct {
	Dir  string
	lock *os.File
}

// ScratchName is what the names of such directories begin with.
const ScratchName = "ipamsim-cells-"

// NewScratch makes one, and removes those of processes that are no more.
func NewScratch() (*Scratch, error) {
	sweep("/dev/shm")
	sweep(os.TempDir())
	dir, err := os.MkdirTemp("/dev/shm", ScratchName)
	if err != nil {
		dir, err = os.MkdirTemp("", ScratchName)
	}
	if err != nil {
		return nil, err
	}
	lock, err := Lock(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &Scratch{dir, lock}, nil
}

// Remove it with all that is in it.
func (s *Scratch) Remove() error {
	return errors.Join(os.RemoveAll(s.Dir), s.lock.Close())
}

// sweep removes scratch directories that nobody holds. One without a lock file is
// just being made.
func sweep(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, ScratchName+"*"))
	for _, d := range dirs {
		if _, err := os.Stat(filepath.Join(d, "lock")); err != nil {
			continue
		}
		if lock, err := Lock(filepath.Join(d, "lock")); err == nil {
			_ = os.RemoveAll(d)
			_ = lock.Close()
		}
	}
}

// ErrTaken is what Lock says if somebody else has it.
var ErrTaken = errors.New("taken")

// Lock locks a file as long as it stays open and this process lives.
func Lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrTaken
		}
		return nil, err
	}
	return f, nil
}
