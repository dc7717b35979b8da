//go:build libfuzzer

// Package main is every target of package fuzz, for libFuzzer: build.sh puts this
// file and the targets, as they are, into one folder. Which target a process is
// says its name. It works in the folder fuzz beside the program, so that paths
// given to it must be absolute.
package main

/*
#include <signal.h>
#include <stdlib.h>

// libFuzzer's handlers are called on whatever stack is in use, and a goroutine's
// is too small for them. It keeps this flag if it finds it.
static void onstack(int sig) {
	struct sigaction a;
	sigaction(sig, NULL, &a);
	a.sa_flags |= SA_ONSTACK;
	sigaction(sig, &a, NULL);
}

static void all_onstack(void) {
	int sigs[] = {SIGSEGV, SIGABRT, SIGALRM, SIGINT, SIGTERM, SIGBUS, SIGFPE, SIGXFSZ, SIGUSR1, SIGUSR2};
	for (unsigned i = 0; i < sizeof(sigs) / sizeof(*sigs); i++)
		onstack(sigs[i]);
}
*/
import "C"

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"unsafe"

	"ipamsim/fuzz/input"
)

func main() {}

// F, M and T are the parts of testing.F, testing.M and testing.T that the files of
// the targets use. Of their tests and their TestMain, nothing runs here.
type F struct{ target any }

func (f *F) Add(...any)                {} // the seed corpus is a file beside the program
func (f *F) Fuzz(target any)           { f.target = target }
func (f *F) Skip(why ...any)           { f.Fatal(why...) }
func (f *F) Fatalf(s string, a ...any) { f.Fatal(fmt.Sprintf(s, a...)) }
func (f *F) Fatal(why ...any) {
	fmt.Fprintln(os.Stderr, why...)
	os.Exit(2)
}

type M struct{}

func (*M) Run() int { return 0 }

type T struct{ input input.Input }

func (t *T) Context() context.Context { return context.Background() }

// Error ends the process in the way that makes libFuzzer keep the input, and says
// how Go's own fuzzer would write it down.
func (t *T) Error(why ...any) {
	fmt.Fprintln(os.Stderr, why...)
	if t.input.World != nil {
		fmt.Fprintf(os.Stderr, "\nAs a file of go test -fuzz, %s:\n%s", t.input.FileName(), t.input.File())
	}
	C.abort()
}

func (t *T) Skip(why ...any)           { t.Error(why...) }
func (t *T) Fatal(why ...any)          { t.Error(why...) }
func (t *T) Fatalf(s string, a ...any) { t.Error(fmt.Sprintf(s, a...)) }
func (t *T) Errorf(s string, a ...any) { t.Error(fmt.Sprintf(s, a...)) }

var f F

//export LLVMFuzzerInitialize
func LLVMFuzzerInitialize(argc *C.int, argv ***C.char) C.int {
	C.all_onstack()
	debug.SetTraceback("crash") // a panic is a signal, too
	program := C.GoString(**argv)
	if err := os.Chdir(filepath.Join(filepath.Dir(program), "fuzz")); err != nil { // where what is known lies
		f.Fatal(err)
	}
	target := targets[filepath.Base(program)]
	if target == nil {
		f.Fatal(program, "is the name of no target")
	}
	if dir := os.Getenv("SEEDS_TO"); dir != "" {
		seeds(dir, unsafe.Slice(*argv, *argc)[1:])
		os.Exit(0)
	}
	target(&f)
	return 0
}

// seeds turns files of go test -fuzz into ones of libFuzzer.
func seeds(dir string, files []*C.char) {
	for _, name := range files {
		file := C.GoString(name)
		text, err := os.ReadFile(file)
		var in input.Input
		if err == nil {
			in, err = input.ParseFile(text)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(file)), in.Raw(), 0o644)
		}
		if err != nil {
			f.Fatal(file, err)
		}
	}
}

//export LLVMFuzzerTestOneInput
func LLVMFuzzerTestOneInput(data *C.char, size C.size_t) C.int {
	b := C.GoBytes(unsafe.Pointer(data), C.int(size))
	switch target := f.target.(type) {
	case func(*T, []byte):
		target(&T{}, b)
	case func(*T, []byte, []byte):
		in := input.FromRaw(b)
		target(&T{in}, in.World, in.Schedule)
	default:
		f.Fatal("a target that takes something else:", fmt.Sprintf("%T", target))
	}
	return 0
}
