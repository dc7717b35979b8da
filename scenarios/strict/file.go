package strict

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// FileMax bounds a file that is read as a whole. The IPPool of a /16 with every address taken is 6 MiB of
// YAML. A larger file is read document by document, each within this bound, up to largeMax: the import of
// a cluster with 150,000 pods has 150 MiB.
const (
	FileMax  = 8 << 20
	LargeMax = 512 << 20
)

// ReadFile reads a regular file of bounded size. Opening a named pipe or a device could block forever, so
// the kind is checked first, and the file is opened without blocking in case it was replaced in between.
func ReadFile(path string) ([]byte, error) {
	refuse := func(problem string) ([]byte, error) { return nil, &Error{File: path, Problem: problem} }
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			defer f.Close()
			info, err = f.Stat()
			if err == nil && info.Mode().IsRegular() && info.Size() <= LargeMax {
				return readAll(f, path)
			}
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse("no such file")
	case errors.Is(err, fs.ErrPermission):
		return refuse("permission denied")
	case errors.Is(err, syscall.ELOOP):
		return refuse("symbolic links go round in a circle")
	case err != nil:
		return refuse(cause(err))
	case info.IsDir():
		return refuse("is a directory, want a file")
	case !info.Mode().IsRegular():
		return refuse("is not a regular file (" + describeMode(info.Mode()) + ")")
	}
	return refuse("more than 512 MiB, too large for a scenario")
}

// readAll stops where a file that grows while it is read gets too large.
func readAll(f *os.File, path string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, LargeMax+1))
	if err != nil {
		return nil, &Error{File: path, Problem: cause(err)}
	}
	return data, nil
}

// cause is the error without operation and path, which the caller names.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return OneLine(err)
}

func describeMode(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return m.String()
}
