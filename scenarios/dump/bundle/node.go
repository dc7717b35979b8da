package bundle

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"path"
	"path/filepath"

	"ipamsim/scenarios/dump/decode"
	"ipamsim/scenarios/dump/iproute"
)

// plain reads a file that the user names and that is not packed. What nodes' own commands have
// printed may be all that it holds.
func (r *Reader) plain(name string, b *bufio.Reader) error {
	found := 0
	add := func(x iproute.Output) {
		found++
		r.Cluster.AddOutput(x)
	}
	if iproute.Named(filepath.ToSlash(name)) {
		first, _ := b.Peek(decode.HoldsPeek)
		if first = bytes.Clone(first); !decode.Holds(filepath.ToSlash(name), first, nil) {
			out, ok, err := iproute.File(filepath.ToSlash(name), b)
			if !ok || err != nil { // the usual error
				return errors.Join(r.Cluster.Read(name, bytes.NewReader(first), nil), err)
			}
			r.Cluster.Source(name)
			add(out)
			return nil
		}
	}
	before := r.Cluster.Book.Objects()
	err := r.Cluster.Read(name, iproute.Reader(filepath.ToSlash(name), b, add), r.progress(name))
	if err != nil && found > 0 && r.Cluster.Book.Objects() == before {
		return nil
	}
	return err
}

// hostMost is the length of the longest name of a host, with an end of its line.
const hostMost = 255

// ofNode reads a file of a folder or an archive that holds no objects, if a node's own commands
// have printed it.
func (w *walk) ofNode(name string, b *bufio.Reader, first []byte) bool {
	slashed, found := filepath.ToSlash(name), false
	add := func(x iproute.Output) {
		found = true
		w.Cluster.AddOutput(x)
	}
	switch {
	case path.Base(slashed) == "hostname" && len(first) <= hostMost:
		return w.Cluster.AddHost(slashed, first)
	case iproute.Named(slashed):
		if out, ok, err := iproute.File(slashed, b); ok && err == nil {
			add(out)
		}
	case iproute.Typed(first):
		_, _ = io.Copy(io.Discard, iproute.Reader(slashed, b, add)) // what is wrong with the archive comes again
	}
	return found
}
