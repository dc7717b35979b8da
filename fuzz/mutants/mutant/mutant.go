// Package mutant activates one mutant of a program. A copy of it is part of the copy of an address
// manager's module whose source package mutants has changed: the program contains all mutants, and
// each has no effect unless its number is the active one.
//
// It imports only the standard library and is configured by environment variables, because the
// copy cannot import ipamsim.
package mutant

import (
	"os"
	"strconv"
	"syscall"
)

// The environment variables.
const (
	Active = "IPAMSIM_MUTANT"         // the number of the active mutant; none: the original program
	Reach  = "IPAMSIM_MUTANT_REACHED" // a file with a byte for each number, which becomes 1 when the mutant's place is executed
)

var active, reached = settings()

func settings() (int, []byte) {
	n, err := strconv.Atoi(os.Getenv(Active))
	if err != nil {
		n = -1
	}
	return n, shared(os.Getenv(Reach))
}

// shared maps a file into memory, shared by all processes that name it: a process of a simulation
// may die at any time, and several processes of a run execute different places.
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

// On reports whether a mutant is active. Every mutant calls it whenever its place is executed.
func On(id int) bool {
	if id < len(reached) {
		reached[id] = 1
	}
	return id == active
}

// Keep returns false if the mutant is active: the guarded code is skipped.
func Keep(id int) bool { return !On(id) }

// Not returns v, or its negation.
func Not[B ~bool](id int, v B) B { return v != B(On(id)) }

// Err returns err, or nil.
func Err(id int, err error) error {
	if On(id) {
		return nil
	}
	return err
}

// Zero returns v, or the zero value of its type.
func Zero[T any](id int, v T) T {
	if On(id) {
		var zero T
		return zero
	}
	return v
}

// Drop returns all, or all without the element at i.
func Drop[S ~[]T, T any](id, i int, all S) S {
	if On(id) {
		return append(append(S{}, all[:i]...), all[i+1:]...)
	}
	return all
}

// Integer is the constraint of Int.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// Int returns v, or v+1 if the mutant more is active, or v-1 if less is.
func Int[T Integer](more, less int, v T) T {
	switch {
	case On(more):
		return v + 1
	case On(less):
		return v - 1
	}
	return v
}

// Ordered is the constraint of the comparisons.
type Ordered interface {
	Integer | ~float32 | ~float64 | ~string
}

// Less returns a < b, or a <= b if the mutant is active.
func Less[T Ordered](id int, a, b T) bool { on := On(id); return a < b || on && a == b }

// LessEqual returns a <= b, or a < b if the mutant is active.
func LessEqual[T Ordered](id int, a, b T) bool { on := On(id); return a < b || !on && a == b }

// Greater returns a > b, or a >= b if the mutant is active.
func Greater[T Ordered](id int, a, b T) bool { on := On(id); return a > b || on && a == b }

// GreaterEqual returns a >= b, or a > b if the mutant is active.
func GreaterEqual[T Ordered](id int, a, b T) bool { on := On(id); return a > b || !on && a == b }
