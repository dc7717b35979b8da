// Package infile opens what a command is given to read, which may be hostile or take long.
package infile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"ipamsim/reports"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/strict"
)

// OpenRegular opens a file that may be hostile: no directory, pipe or device.
func OpenRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("no regular file")
	}
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, err
	}
	return os.Open(path)
}

// UntilDone is a reader that ends with an error when its context does.
type UntilDone struct {
	ctx context.Context
	io.Reader
}

// Until reads from r until ctx is done.
func Until(ctx context.Context, r io.Reader) UntilDone { return UntilDone{ctx, r} }

func (u UntilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}

// Open makes u read a file, or its current input if the name is -, and returns the name for messages.
func (u *UntilDone) Open(name string) (called string, file io.Closer, err error) {
	if name == "-" {
		return "standard input", io.NopCloser(nil), nil
	}
	f, err := os.Open(name)
	if err == nil {
		var info os.FileInfo
		if info, err = f.Stat(); err == nil && info.IsDir() {
			err = errors.New("is a directory, want a file")
		}
		if err != nil {
			f.Close()
		}
	}
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return "", nil, &strict.Error{File: name, Problem: err.Error()}
	}
	u.Reader = f
	return name, f, nil
}

// HowFar reports once a second how much of a file has been read, for the first time after
// half of one.
func HowFar(stderr io.Writer, name string) func(dump.Progress) {
	last := time.Now().Add(-time.Second / 2)
	return func(p dump.Progress) {
		if time.Since(last) > time.Second {
			last = time.Now()
			fmt.Fprintf(stderr, "ipamsim: %s: %d MiB, %d objects\n", reports.Clean(name), p.Bytes>>20, p.Objects)
		}
	}
}
