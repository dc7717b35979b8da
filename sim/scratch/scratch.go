// Package scratch creates temporary directories in memory. Each is locked as long as its
// process runs, so that later processes can recognize and remove the directories of a killed
// one.
package scratch

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Dir is a directory that other processes do not remove before this process ends.
type Dir struct {
	Path string
	lock *os.File
}

// prefix of the names of all such directories.
const prefix = "ipamsim-"

// New creates a directory for an etcd or several, ipamsim-KIND-…, and removes those of ended
// processes. The error reports what the machine lacks.
func New(kind string) (*Dir, error) {
	parent, err := ready()
	if err != nil {
		return nil, err
	}
	for {
		if d, err := Make(parent, kind+"-"+random()); !errors.Is(err, ErrTaken) {
			return d, err
		}
	}
}

// random returns a name that no other process draws. os.MkdirTemp does not: on the generated
// runtime the random numbers of every process are the same, so a directory could get the name
// of one that another process still removes.
func random() string { return rand.Text()[:randomLen] }

// randomLen letters are 50 bits.
const randomLen = 10

// Make creates the directory ipamsim-NAME in parent. It draws no random number and reads
// nothing else, so that a bubble may call it. The error is ErrTaken if the directory exists.
func Make(parent, name string) (*Dir, error) {
	path := filepath.Join(parent, prefix+name)
	if err := os.Mkdir(path, 0o700); errors.Is(err, os.ErrExist) {
		return nil, ErrTaken
	} else if err != nil {
		return nil, err
	}
	return hold(path)
}

// hold locks a new directory. A sweep between the file's creation and its lock removes both;
// hold does not recreate them, because the next process may already have the name.
func hold(path string) (*Dir, error) {
	lock, err := Lock(filepath.Join(path, lockName))
	switch {
	case err == nil:
		return &Dir{path, lock}, nil
	case errors.Is(err, ErrTaken), errors.Is(err, os.ErrNotExist):
		return nil, ErrTaken
	}
	return nil, errors.Join(err, os.RemoveAll(path))
}

// Remove removes the directory with its content.
func (d *Dir) Remove() error {
	return errors.Join(os.RemoveAll(d.Path), d.lock.Close())
}

const lockName = "lock"

// sweep removes directories that are not locked. A directory without a lock file is being
// created.
func sweep(parent string) {
	locks, _ := filepath.Glob(filepath.Join(parent, prefix+"*", lockName))
	for _, l := range locks {
		if lock, err := open(l, 0); err == nil {
			_ = os.RemoveAll(filepath.Dir(l))
			_ = lock.Close()
		}
	}
}

// ErrTaken is the error of Lock if another process has the lock.
var ErrTaken = errors.New("taken")

// Lock locks a file as long as it is open and this process runs.
func Lock(path string) (*os.File, error) { return open(path, os.O_CREATE) }

func open(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|flag, 0o600)
	if err != nil {
		return nil, err
	}
	if err := seize(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// seize locks an open file. The error is ErrTaken if another process has the lock, or if the
// path no longer leads to this file: process A opens the lock of a dead directory, B removes
// that directory and creates its own with the same name, A locks the file that it opened. A
// must not treat B's directory as dead, nor as its own.
func seize(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrTaken
	} else if err != nil {
		return err
	}
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(f.Name())
	if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(mine, there) {
		return ErrTaken
	}
	return err
}

// filesMin is enough for an etcd, which refuses 150, and its process.
const filesMin = 256

// Check returns an error if the machine lacks what New needs: open files, or room.
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
