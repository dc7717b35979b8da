// Package outfile writes the files of commands, whole or not at all.
package outfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
)

// File is a file that appears whole or not at all. A nil file takes nothing.
type File struct {
	*bufio.Writer
	Path  string
	tmp   *os.File // nil for stdout
	Eager bool     // readers wait for every line
}

// Create begins a file. What exists and is no regular file, /dev/null or a named
// pipe, is written to directly.
func Create(path string) (*File, error) {
	if path == "" {
		return nil, nil
	}
	real := path
	if p, err := filepath.EvalSymlinks(path); err == nil {
		real = p
	}
	switch st, err := os.Stat(real); {
	case err != nil:
	case st.IsDir():
		return nil, fmt.Errorf("%s is a directory", path)
	default:
		f, err := os.OpenFile(real, os.O_WRONLY, 0) // may it be written at all?
		if err != nil {
			return nil, err
		}
		if !st.Mode().IsRegular() {
			return &File{Writer: bufio.NewWriter(f), Path: path, tmp: f, Eager: true}, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	tmp, err := os.OpenFile(fmt.Sprintf("%s.tmp%d", real, os.Getpid()), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = fmt.Errorf("%s: %w", path, p.Err) // not the temporary name
		}
		return nil, err
	}
	return &File{Writer: bufio.NewWriter(tmp), Path: real, tmp: tmp}, nil
}

// Stream returns a file that writes to w, for a reader that waits for every line.
func Stream(w io.Writer) *File { return &File{Writer: bufio.NewWriter(w), Eager: true} }

func (f *File) Commit() error {
	if f == nil {
		return nil
	}
	err := f.Flush()
	if f.tmp == nil {
		return err
	}
	if err = errors.Join(err, f.tmp.Close()); err != nil || f.Eager {
		return err
	}
	return os.Rename(f.tmp.Name(), f.Path)
}

func (f *File) Discard() {
	if f == nil || f.tmp == nil {
		return
	}
	_ = f.tmp.Close()
	if !f.Eager {
		_ = os.Remove(f.tmp.Name())
	}
}

func Writable(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".ipamsim-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

var Unsafe = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// WriteTo writes the file of a flag, whole or not at all.
func WriteTo(flag, path string, write func(io.Writer) error) error {
	out, err := Create(path)
	if err == nil {
		if err = write(out); err != nil {
			out.Discard()
		} else {
			err = out.Commit()
		}
	}
	if err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return nil
}

// Write writes a file that appears whole or not at all.
func Write(path string, text []byte) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Commit())
}

// BesideHTML is the way from a page to the directory of a file, as a URL has it.
func BesideHTML(file, html string) string {
	from, err := filepath.Abs(filepath.Dir(html))
	to, e := filepath.Abs(filepath.Dir(file))
	if err == nil && e == nil {
		if rel, err := filepath.Rel(from, to); err == nil {
			return (&url.URL{Path: filepath.ToSlash(rel)}).String()
		}
	}
	return "."
}
