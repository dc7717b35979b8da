package campaign

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// scratch is a directory in memory for the etcds of a worker's cells. It is
// locked as long as the worker lives, so that whoever comes later can tell what
// was left behind and remove it.
type scratch struct {
	dir  string
	lock *os.File
}

const scratchName = "ipamsim-cells-"

// newScratch makes one, and removes those of workers that are no more.
func newScratch() (*scratch, error) {
	sweep("/dev/shm")
	sweep(os.TempDir())
	dir, err := os.MkdirTemp("/dev/shm", scratchName)
	if err != nil {
		dir, err = os.MkdirTemp("", scratchName)
	}
	if err != nil {
		return nil, err
	}
	lock, err := flock(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &scratch{dir, lock}, nil
}

func (s *scratch) remove() error {
	return errors.Join(os.RemoveAll(s.dir), s.lock.Close())
}

// sweep removes scratch directories that nobody holds. One without a lock file is
// just being made.
func sweep(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, scratchName+"*"))
	for _, d := range dirs {
		if _, err := os.Stat(filepath.Join(d, "lock")); err != nil {
			continue
		}
		if lock, err := flock(filepath.Join(d, "lock")); err == nil {
			_ = os.RemoveAll(d)
			_ = lock.Close()
		}
	}
}

// errTaken is what flock says if somebody else has it.
var errTaken = errors.New("taken")

// flock locks a file as long as it stays open and this process lives.
func flock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errTaken
		}
		return nil, err
	}
	return f, nil
}
