// Package mutant switches one change of a program on. A copy of it lies in the copy of an
// address manager's module whose source package mutants has changed: all changes are in
// one program, each does nothing until its number is the active one.
//
// It imports nothing but the standard library, and what it is asked comes from the
// environment of the process: the copy can know nothing of ipamsim.
package mutant

import (
	"os"
	"strconv"
	"syscall"
)

// The environment of a process.
const (
	Active = "IPAMSIM_MUTANT"         // the number of the change that is on; none: the program is as it was
	Reach  = "IPAMSIM_MUTANT_REACHED" // a file with a byte for each number, which becomes 1 when a change's place is come to
)

var active, reached = settings()

func settings() (int, []byte) {
	n, err := strconv.Atoi(os.Getenv(Active))
	if err != nil {
		n = -1
	}
	return n, shared(os.Getenv(Reach))
}

// shared is a file as memory that all processes which name it write to: a process of a
// simulation may die at any moment, and others of the same run come to other places.
func shared(path string) []byte {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		panic(err)
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return b
}

// On reports whether a change is on. Every change asks it whenever it is come to.
func On(id int) bool {
	if id < len(reached) {
		reached[id] = 1
	}
	return id == active
}

// Keep is false if a change is on: what it guards is left out.
func Keep(id int) bool { return !On(id) }

// Not is v, or the contrary.
func Not[B ~bool](id int, v B) B { return v != B(On(id)) }

// Err is err, or nil.
func Err(id int, err error) error {
	if On(id) {
		return nil
	}
	return err
}

// Zero is v, or what its type is before anything is assigned.
func Zero[T any](id int, v T) T {
	if On(id) {
		var zero T
		return zero
	}
	return v
}

// Drop is all, or all but the element at i.
func Drop[S ~[]T, T any](id, i int, all S) S {
	if On(id) {
		return append(append(S{}, all[:i]...), all[i+1:]...)
	}
	return all
}

// Integer is what Int takes.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// Int is v, or one more if the change more is on, or one less.
func Int[T Integer](more, less int, v T) T {
	switch {
	case On(more):
		return v + 1
	case On(less):
		return v - 1
	}
	return v
}

// Ordered is what can be compared by size.
type Ordered interface {
	Integer | ~float32 | ~float64 | ~string
}

// Less is a < b, or a <= b; the others likewise.
func Less[T Ordered](id int, a, b T) bool { on := On(id); return a < b || on && a == b }

// LessEqual is a <= b, or a < b.
func LessEqual[T Ordered](id int, a, b T) bool { on := On(id); return a < b || !on && a == b }

// Greater is a > b, or a >= b.
func Greater[T Ordered](id int, a, b T) bool { on := On(id); return a > b || on && a == b }

// GreaterEqual is a >= b, or a > b.
func GreaterEqual[T Ordered](id int, a, b T) bool { on := On(id); return a > b || !on && a == b }
