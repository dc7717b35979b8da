// Package std replaces Go's packages os, os/signal, syscall, flag, context, log, runtime,
// runtime/debug, net/http and path/filepath, as far as upstream's programs use them. A program
// imports it instead of each of them. It has its own environment, arguments, standard streams and
// exit, and the files of its host. All names are those of Go's packages.
package std

import (
	"io"
	"io/fs"
	real "os"
	"syscall"

	"ipamsim/sim/disk"
	"ipamsim/sim/ipam/platform"
)

// Args is the name of the program: it is started with no arguments.
var Args = []string{"program"}

// Getenv is a variable of the program's environment, "" if there is none.
func Getenv(name string) string { return platform.Current().Getenv(name) }

// LookupEnv is Getenv, and whether there is such a variable.
func LookupEnv(name string) (string, bool) { return platform.Current().LookupEnv(name) }

// Setenv changes the program's environment.
func Setenv(name, value string) error {
	platform.Current().Setenv(name, value)
	return nil
}

// Signal, Interrupt and SIGTERM are Go's own.
type Signal = real.Signal

var Interrupt = real.Interrupt

const SIGTERM = syscall.SIGTERM

// Notify sends nothing: what repeats a program's main handles SIGTERM (sim.Gate.OnTerm).
func Notify(chan<- Signal, ...Signal) {}

// GOOS is what simulated hosts run.
const GOOS = "linux"

// LockOSThread has nothing to do: no simulated program enters a network namespace.
func LockOSThread() {}

// Printf is package log's; the log is discarded.
func Printf(string, ...any) {}

// Exit ends the program.
func Exit(code int) { platform.Current().Exit(code) }

// stream is one of the program's standard streams.
type stream struct{ read, write func([]byte) (int, error) }

func (s stream) Read(b []byte) (int, error)  { return s.read(b) }
func (s stream) Write(b []byte) (int, error) { return s.write(b) }

// The program's standard streams. Stderr is discarded.
var (
	Stdin  io.Reader = stream{read: func(b []byte) (int, error) { return platform.Current().Read(b) }}
	Stdout io.Writer = stream{write: func(b []byte) (int, error) { return platform.Current().Write(b) }}
	Stderr           = io.Discard
)

// FileMode and ModePerm are Go's own.
type FileMode = fs.FileMode

const ModePerm = fs.ModePerm

// File is an open file of the host.
type File = disk.File

// FileInfo is Go's own, and so are the flags.
type FileInfo = fs.FileInfo

const (
	O_RDONLY = real.O_RDONLY
	O_WRONLY = real.O_WRONLY
	O_RDWR   = real.O_RDWR
	O_APPEND = real.O_APPEND
	O_CREATE = real.O_CREATE
	O_EXCL   = real.O_EXCL
	O_TRUNC  = real.O_TRUNC
)

// IsNotExist and IsExist are Go's own.
func IsNotExist(err error) bool { return real.IsNotExist(err) }
func IsExist(err error) bool    { return real.IsExist(err) }

// files are the files of the program's host.
func files() *disk.Process { return platform.Current().Files() }

// What follows has the meaning that it has in Go's own, for files of the host.

func ReadFile(name string) ([]byte, error) { return files().ReadFile(name) }
func WriteFile(name string, content []byte, mode FileMode) error {
	return files().WriteFile(name, content, mode)
}
func Stat(name string) (FileInfo, error)         { return files().Stat(name) }
func Mkdir(name string, mode FileMode) error     { return files().Mkdir(name, mode) }
func MkdirAll(name string, mode FileMode) error  { return files().MkdirAll(name, mode) }
func Remove(name string) error                   { return files().Remove(name) }
func RemoveAll(name string) error                { return files().RemoveAll(name) }
func Rename(from, to string) error               { return files().Rename(from, to) }
func ReadDir(name string) ([]fs.DirEntry, error) { return files().ReadDir(name) }
func Create(name string) (*File, error)          { return files().Create(name) }
func Open(name string) (*File, error)            { return files().Open(name) }
func OpenFile(name string, flag int, mode FileMode) (*File, error) {
	return files().OpenFile(name, flag, mode)
}
