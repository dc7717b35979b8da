// Package scratch is where a process keeps what is gone with it: directories in
// memory, each locked as long as its process lives, so that whoever comes later can
// tell what a killed one left behind and remove it.
package scratch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Dir is a directory that nobody else removes before this process ends.
type Dir struct {
	Path string
	lock *os.File
}

// prefix of the names of all such directories.
const prefix = "ipamsim-"

// New makes one for an etcd or several, ipamsim-KIND-…, and removes those of
// processes that are no more. The error says what the machine lacks.
func New(kind string) (*Dir, error) {
	parent, err := ready()
	if err != nil {
		return nil, err
	}
	for {
		path, err := os.MkdirTemp(parent, prefix+kind+"-")
		if err != nil {
			return nil, err
		}
		if d, err := hold(path); !errors.Is(err, ErrTaken) {
			return d, err
		}
	}
}

// Make makes one of that very name, ipamsim-NAME in parent. It draws nothing and
// looks at nothing else, so that a bubble may ask for it. The error is ErrTaken if
// there is one.
func Make(parent, name string) (*Dir, error) {
	path := filepath.Join(parent, prefix+name)
	if err := os.Mkdir(path, 0o700); errors.Is(err, os.ErrExist) {
		return nil, ErrTaken
	} else if err != nil {
		return nil, err
	}
	return hold(path)
}

// hold locks a new directory. A sweep that came between the file and its lock has
// removed both.
func hold(path string) (*Dir, error) {
	lock, err := Lock(filepath.Join(path, lockName))
	if err == nil {
		if _, gone := os.Stat(lock.Name()); gone == nil {
			return &Dir{path, lock}, nil
		}
		_ = lock.Close()
		err = ErrTaken
	}
	if errors.Is(err, os.ErrNotExist) {
		err = ErrTaken
	}
	return nil, errors.Join(err, os.RemoveAll(path))
}

// Remove it with all that is in it.
func (d *Dir) Remove() error {
	return errors.Join(os.RemoveAll(d.Path), d.lock.Close())
}

const lockName = "lock"

// sweep removes directories that nobody holds. One without a lock is just being
// made.
func sweep(parent string) {
	locks, _ := filepath.Glob(filepath.Join(parent, prefix+"*", lockName))
	for _, l := range locks {
		if lock, err := Lock(l); err == nil {
			_ = os.RemoveAll(filepath.Dir(l))
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

// filesMin are enough for an etcd, which refuses 150, and what surrounds it.
const filesMin = 256

// Check says what the machine lacks for New: open files, or room.
func Check() error {
	_, err := ready()
	return err
}

func ready() (parent string, err error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return "", fmt.Errorf("the limit of open files: %w", err)
	}
	if limit.Cur < filesMin {
		return "", fmt.Errorf("at most %d open files, want %d or more (ulimit -n)", limit.Cur, filesMin)
	}
	sweep(memory)
	sweep(os.TempDir())
	return Parent()
}
