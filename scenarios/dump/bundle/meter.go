package bundle

import (
	"errors"
	"fmt"
	"io"
)

// What a folder or an archive may cost. A must-gather of a large cluster has some ten
// thousand files and 10 GiB of logs; YAML with long lists of null shrinks to a 100th.
const (
	entriesMax = 100_000
	bytesMax   = 32 << 30
	depthMax   = 5 // formats within each other: a .tar.gz counts as two
	ratioMax   = 250
	ratioFrom  = 64 << 20 // smaller ones may shrink as they like
	pathMax    = 4096
	innerMax   = 64 << 20 // a zip archive that is not a file of its own is kept in memory
)

// errLimit ends the reading of an archive.
var errLimit = errors.New("refused")

func limit(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errLimit, fmt.Sprintf(format, args...))
}

// meter counts what an archive costs, with all archives within it.
type meter struct {
	entries int
	in, out int64 // bytes of the file, and unpacked from it
	size    int64 // of the file, 0: not known
}

// entry counts one more.
func (m *meter) entry() error {
	if m.entries++; m.entries > entriesMax {
		return limit("more than %d files: pass the folders that hold YAML or JSON alone", entriesMax)
	}
	return nil
}

// unpacked counts bytes that were unpacked.
func (m *meter) unpacked(n int) error {
	m.out += int64(n)
	in := m.in
	if m.size > 0 {
		in = min(in, m.size) // entries of a zip archive may share their bytes
	}
	switch {
	case m.out > bytesMax:
		return limit("more than %d GiB when unpacked", bytesMax>>30)
	case m.out > ratioFrom && m.out > ratioMax*max(in, 1):
		return limit("unpacks to more than %d times its size, as an archive bomb does", ratioMax)
	}
	return nil
}

// counted counts what is read of the file itself.
type counted struct {
	r io.Reader
	m *meter
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.m.in += int64(n)
	return n, err
}

// unpacking counts what is unpacked.
type unpacking struct {
	r io.Reader
	m *meter
}

func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if over := u.m.unpacked(n); over != nil {
		return 0, over
	}
	return n, err
}
