// Package platform is the machine of upstream's programs: environment, files, standard streams,
// child processes and exit. A program is upstream's own main function, copied with other imports.
// The packages in the folders below replace the imported packages that use a real machine
// (sim/ipam/*/copies.txt), and have their names. One of ours may replace several of them.
//
// An adapter has no argument that names its program. The goroutine identifies the program, and
// inherits it from the goroutine that started it.
package platform

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"unsafe" // for linkname, too

	"ipamsim/sim"
)

// Program is one execution of a program: a process of the operating system, or a part
// of the simulated one that started it.
type Program struct {
	Name string
	Host *Host
	// Ctx ends when the program is killed.
	Ctx context.Context
	// Term returns the context of a SIGTERM handler; nil: the program has no handler.
	Term func() context.Context
	// Gate is passed by the program's system calls on files; nil: they are no messages.
	Gate *sim.Gate
	// Machine is the data that the adapters of the program's manager need.
	Machine any
	// Executables are the programs that it can start, by name.
	Executables map[string]func()
	// Crash is called after a panic that ended the program or one that it started.
	Crash func(value any, stack string)
	// Child runs a program that this one starts as a child process. The child, and the programs
	// that it starts, outlive this program; nil: they die with it.
	Child func(run func())
	// Runtime: the program is a container runtime. A program that it starts is killed when the
	// caller of the runtime disconnects, but not the programs that this one has started.
	Runtime bool
	// Started is called with every program that it started, when that has ended.
	Started func(*Program, Ended)
	Stdin   []byte
	Env     map[string]string
	Flags   map[string]string // its arguments, by name of the flag

	unread []byte // of Stdin
	stdout bytes.Buffer
	code   int
	ended  atomic.Bool
}

// Ended is how a program ended.
type Ended struct {
	Stdout []byte
	Code   int // 2 after a panic that was not recovered
	Crash  any // its value, or nil
}

// labels are the profiler's labels of a goroutine, with its program. A goroutine inherits them
// from the one that starts it. So only its goroutines refer to a program: a killed one never runs
// its deferred functions.
//
// Source: runtime/pprof, labelMap; internal/runtime/pprof/label, Set (Go 1.26).
type labels struct {
	list    []struct{ key, value string }
	program *Program
}

const labelKey = "program"

//go:linkname label runtime/pprof.runtime_getProfLabel
func label() unsafe.Pointer

//go:linkname setLabel runtime/pprof.runtime_setProfLabel
func setLabel(labels unsafe.Pointer)

// Signals is the context of the program's handler of SIGTERM.
func (p *Program) Signals() context.Context {
	if p.Term == nil {
		return p.Ctx
	}
	return p.Term()
}

// Current is the program of the calling goroutine. It does not return if that program has ended.
func Current() *Program {
	l := (*labels)(label())
	if l == nil || len(l.list) != 1 || l.list[0].key != labelKey || l.program.ended.Load() {
		runtime.Goexit()
	}
	return l.program
}

// Run executes main as the program, and waits for its end.
func (p *Program) Run(main func()) Ended {
	e := Ended{}
	p.code, p.unread = 1, p.Stdin // 1: as in log.Fatal
	done := make(chan struct{})
	go func() {
		defer close(done)
		setLabel(unsafe.Pointer(&labels{[]struct{ key, value string }{{labelKey, p.Name}}, p}))
		defer p.ended.Store(true)
		defer func() {
			if e.Crash = recover(); e.Crash != nil {
				p.Crash(e.Crash, string(debug.Stack()))
				p.code = 2
			}
		}()
		main()
		p.code = 0
	}()
	<-done
	e.Code, e.Stdout = p.code, p.stdout.Bytes()
	return e
}

// Exit ends the program. In its main goroutine, only deferred functions still run. In another
// goroutine an exit acts as a panic, because nothing else ends the other goroutines.
func (p *Program) Exit(code int) {
	p.code = code
	if stack := string(debug.Stack()); !strings.Contains(stack, "/platform.(*Program).Run") {
		p.Crash(fmt.Sprint("exit status ", code), stack)
	}
	runtime.Goexit()
}

// Getenv is a variable of the program's environment.
func (p *Program) Getenv(name string) string { return p.Env[name] }

// LookupEnv is Getenv, and whether there is such a variable.
func (p *Program) LookupEnv(name string) (value string, ok bool) {
	value, ok = p.Env[name]
	return value, ok
}

// Setenv changes the program's environment.
func (p *Program) Setenv(name, value string) { p.Env[name] = value }

// Read is the program's standard input.
func (p *Program) Read(b []byte) (int, error) {
	n := copy(b, p.unread)
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	p.unread = p.unread[n:]
	return n, nil
}

// Write is the program's standard output.
func (p *Program) Write(b []byte) (int, error) { return p.stdout.Write(b) }
