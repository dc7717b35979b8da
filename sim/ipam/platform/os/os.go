// Package os is what a program finds of its machine: its environment, its standard
// streams and files of its host. Everything has the name that it has in Go's own.
package os

import (
	"bytes"
	"io"
	"io/fs"
	real "os"
	"syscall"
	"time"

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

// Signal is Go's own.
type Signal = real.Signal

// Interrupt is Go's own.
var Interrupt = real.Interrupt

// Exit ends the program.
func Exit(code int) { platform.Current().Exit(code) }

// stream is one of the program's standard streams.
type stream struct{ read, write func([]byte) (int, error) }

func (s stream) Read(b []byte) (int, error)  { return s.read(b) }
func (s stream) Write(b []byte) (int, error) { return s.write(b) }

// The program's standard streams. Nobody reads what it says on the last.
var (
	Stdin  io.Reader = stream{read: func(b []byte) (int, error) { return platform.Current().Read(b) }}
	Stdout io.Writer = stream{write: func(b []byte) (int, error) { return platform.Current().Write(b) }}
	Stderr           = io.Discard
)

// FileMode and ModePerm are Go's own.
type FileMode = fs.FileMode

const ModePerm = fs.ModePerm

func missing(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: syscall.ENOENT} }

// ReadFile is the content of a file of the host.
func ReadFile(name string) ([]byte, error) {
	if b, ok := platform.Current().Host.Read(name); ok {
		return bytes.Clone(b), nil
	}
	return nil, missing("open", name)
}

// WriteFile makes a file of the host, or another content of it.
func WriteFile(name string, content []byte, _ FileMode) error {
	platform.Current().Host.Write(name, bytes.Clone(content))
	return nil
}

// IsNotExist is Go's own.
func IsNotExist(err error) bool { return real.IsNotExist(err) }

// Stat says whether the host has a file or a folder.
func Stat(name string) (fs.FileInfo, error) {
	host := platform.Current().Host
	b, ok := host.Read(name)
	folder := !ok && host.Folder(name)
	if !ok && !folder {
		return nil, missing("stat", name)
	}
	return info{name, int64(len(b)), folder}, nil
}

type info struct {
	name   string
	size   int64
	folder bool
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return 0o644 }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.folder }
func (i info) Sys() any           { return nil }

// MkdirAll has nothing to do: a file is there without its folder.
func MkdirAll(string, FileMode) error { return nil }

// File is an open file of the host, or a folder.
type File struct {
	name   string
	unread *bytes.Reader // nil of a folder
}

// Create makes an empty file.
func Create(name string) (*File, error) {
	platform.Current().Host.Write(name, nil)
	return &File{name, bytes.NewReader(nil)}, nil
}

// Open opens a file or a folder for reading.
func Open(name string) (*File, error) {
	host := platform.Current().Host
	b, ok := host.Read(name)
	switch {
	case ok:
		return &File{name, bytes.NewReader(b)}, nil
	case host.Folder(name):
		return &File{name: name}, nil
	}
	return nil, missing("open", name)
}

// Read reads what is in a file; a folder cannot be read.
func (f *File) Read(b []byte) (int, error) {
	if f.unread == nil {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: syscall.EISDIR}
	}
	return f.unread.Read(b)
}

// Close has nothing to do.
func (*File) Close() error { return nil }
