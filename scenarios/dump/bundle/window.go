package bundle

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
	"github.com/xi2/xz"
)

// How much of what was unpacked xz and zstd may refer back to, which is kept in memory: what xz
// -9 asks for, and within another archive twice what they do by default.
const (
	windowMax = 64 << 20
	innerMost = 16 << 20
)

// windowed are the readers of xz and zstd, by depth, with their memory.
type windowed struct {
	xzs   [depthMax + 2]*xz.Reader
	zstds [depthMax + 2]*zstd.Decoder
}

// close gives the memory back.
func (w *windowed) close() {
	for _, z := range w.zstds {
		if z != nil {
			z.Close()
		}
	}
}

func window(depth int) uint64 {
	if depth > 1 {
		return innerMost
	}
	return windowMax
}

// xz unpacks data of XZ.
func (w *walk) xz(name string, b *bufio.Reader, depth int) error {
	z := w.xzs[depth]
	var err error
	if z == nil {
		z, err = xz.NewReader(b, uint32(window(depth)))
		w.xzs[depth] = z
	} else {
		err = z.Reset(b)
	}
	if err == nil {
		err = w.open(name, w.inner(z, depth), nil, depth+1)
	}
	if errors.Is(err, xz.ErrMemlimit) {
		return tooWide(depth)
	}
	return err
}

// zstd unpacks data of Zstandard.
func (w *walk) zstd(name string, b *bufio.Reader, depth int) error {
	z := w.zstds[depth]
	var err error
	if z == nil {
		z, err = zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window(depth)), zstd.WithDecoderMaxMemory(window(depth)))
		w.zstds[depth] = z
	} else {
		err = z.Reset(b)
	}
	if err == nil {
		err = w.open(name, w.inner(z, depth), nil, depth+1)
	}
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return tooWide(depth)
	}
	return err
}

// tooWide is about a file that is not read; the rest of an archive is.
func tooWide(depth int) error {
	return fmt.Errorf("unpacking it takes more than %d MiB of memory: unpack it first", window(depth)>>20)
}
