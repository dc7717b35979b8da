// Package bundle reads files, folders and archives into a cluster: must-gather, oc adm
// inspect, kubectl cluster-info dump, calicoctl cluster diags, support bundles, sosreport.
// Files that look like output that is read are read, in whatever folder they are, and the
// others are counted. Archives are read as a stream; nothing is written to disk.
package bundle

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/decode"
	"ipamsim/scenarios/dump/iproute"
	"ipamsim/scenarios/dump/unread"
	"ipamsim/scenarios/strict"
	"ipamsim/sim/ipam"
)

// Reader reads what a user names into a Cluster. Cluster is required.
type Reader struct {
	Cluster *dump.Cluster
	// Stdin is what the name - stands for.
	Stdin io.Reader
	// Until wraps whatever is read, e.g. to end it; nil: nothing does.
	Until func(io.Reader) io.Reader
	// Progress returns what is called while a file is read; nil: nothing is.
	Progress func(name string) func(dump.Progress)
}

// Read reads all named files. A file that cannot be read is reported by the Cluster (see
// dump.Cluster.Damages), and the rest is used. The error is a *strict.Error: a name that does not exist,
// a refused archive, an invalid Kubernetes object, or input without anything that could be read.
func (r *Reader) Read(names []string) error {
	var first error
	usable := 0
	for _, name := range names {
		err := r.file(name)
		var bad *strict.Error
		switch {
		case err == nil:
			usable++
		case len(names) == 1, !errors.As(err, &bad), unread.IsRefusal(err), errors.Is(err, errNoFile):
			return err
		default:
			r.Cluster.Unreadable(bad)
			if first == nil {
				first = err
			}
		}
	}
	if usable == 0 {
		return first
	}
	return nil
}

// errNoFile is that of a name that cannot be opened: a mistake in what was typed.
var errNoFile = errors.New("cannot be opened")

// openError is an error of a name.
type openError struct{ error }

func (e openError) Is(target error) bool { return target == errNoFile }
func (e openError) Unwrap() error        { return e.error }

// file reads a file that the user names.
func (r *Reader) file(name string) error {
	if name == "-" {
		return r.top("standard input", r.Stdin, nil, 0)
	}
	f, err := os.Open(name)
	var info os.FileInfo
	if err == nil {
		defer f.Close()
		info, err = f.Stat()
	}
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return openError{&strict.Error{File: name, Problem: err.Error()}}
	}
	if info.IsDir() {
		return r.whole(name, func(w *walk) error { return w.folder(name) })
	}
	if info.Mode().IsRegular() {
		return r.top(name, f, f, info.Size())
	}
	return r.top(name, f, nil, 0)
}

// top reads a file or an archive; at is the file for random access, if it is one.
func (r *Reader) top(name string, in io.Reader, at io.ReaderAt, size int64) error {
	if r.Until != nil {
		in = r.Until(in)
	}
	w := &walk{Reader: r, meter: &meter{size: size}}
	b := bufio.NewReaderSize(&counted{in, w.meter}, decode.HoldsPeek)
	if packed(b) == "" {
		return r.plain(name, b)
	}
	return r.whole(name, func(v *walk) error {
		v.meter = w.meter
		return v.open(name, b, at, 0)
	})
}

func (r *Reader) progress(name string) func(dump.Progress) {
	if r.Progress == nil {
		return nil
	}
	return r.Progress(name)
}

// whole reads a folder or an archive, and reports what came of it.
func (r *Reader) whole(name string, read func(*walk) error) error {
	r.Cluster.Source(name)
	w := &walk{Reader: r, meter: &meter{}, report: r.progress(name), links: map[string]bool{}}
	w.bundle.Name = name
	for _, m := range r.Cluster.Managers() {
		if i, ok := ipam.Part[*dump.Importer](m); ok {
			w.marks = append(w.marks, i.Marks...)
			if i.Files != nil {
				w.files = append(w.files, i.Files)
			}
		}
	}
	err := read(w)
	w.close()
	var bad *strict.Error
	switch {
	case errors.As(err, &bad):
		return err
	case errors.Is(err, errLimit):
		return &strict.Error{File: name, Problem: strict.OneLine(err)}
	case err != nil && w.bundle.Read == 0:
		return &strict.Error{File: name, Problem: "not read: " + strict.OneLine(err)}
	case err != nil:
		r.Cluster.Unreadable(&strict.Error{File: name, Problem: "cut off or damaged; the part before that was read:" + strict.OneLine(err)})
	case w.bundle.Read == 0 && w.unread != nil:
		return w.unread
	case w.bundle.Read == 0:
		return &strict.Error{File: name, Problem: w.bundle.Nothing()}
	}
	r.Cluster.Bundles = append(r.Cluster.Bundles, w.bundle)
	return nil
}

// walk is the way through one folder or archive.
type walk struct {
	*Reader
	*meter
	bundle unread.Bundle
	report func(dump.Progress)
	links  map[string]bool // paths of links within the archive
	marks  []string        // of what managers' tools print
	files  []func(string) bool
	unread error // of the first file that could not be read
	// buffers are those of archives within archives, by depth: a new one for each of many
	// small files would take most of the time.
	buffers [depthMax + 2]*bufio.Reader
	windowed
}

// buffered is a reader that is valid until the next one of the same depth.
func (w *walk) buffered(r io.Reader, depth int) *bufio.Reader {
	b := w.buffers[min(depth, len(w.buffers)-1)]
	if b == nil {
		b = bufio.NewReaderSize(r, decode.HoldsPeek)
		w.buffers[min(depth, len(w.buffers)-1)] = b
	}
	b.Reset(r)
	return b
}

// failed reports a file that could not be read.
func (w *walk) failed(name string, err error) {
	var bad *strict.Error
	if !errors.As(err, &bad) {
		bad = &strict.Error{File: shown(name), Problem: strict.OneLine(err)}
	}
	w.bundle.Damaged++
	w.Cluster.Unreadable(bad)
	if w.unread == nil {
		w.unread = bad
	}
}

// packed is the format of an archive or of compressed data, by its first bytes; "": none.
func packed(b *bufio.Reader) string {
	first, _ := b.Peek(tarBlock)
	switch {
	case bytes.HasPrefix(first, []byte("\x1f\x8b")):
		return "gzip"
	case bytes.HasPrefix(first, []byte("PK\x03\x04")), bytes.HasPrefix(first, []byte("PK\x05\x06")):
		return "zip"
	case bytes.HasPrefix(first, []byte("BZh")):
		return "bzip2"
	case bytes.HasPrefix(first, []byte("\xfd7zXZ\x00")):
		return "xz"
	case bytes.HasPrefix(first, []byte("\x28\xb5\x2f\xfd")):
		return "zstd"
	case len(first) == tarBlock && string(first[257:262]) == "ustar":
		return "tar"
	}
	return ""
}

const tarBlock = 512

// open reads what is packed, or a file.
func (w *walk) open(name string, b *bufio.Reader, at io.ReaderAt, depth int) error {
	format := packed(b)
	if format != "" && depth > depthMax {
		return limit("archives within archives: more than %d formats within each other", depthMax)
	}
	switch format {
	case "gzip":
		z, err := gzip.NewReader(b)
		if err != nil {
			return err
		}
		return w.open(name, w.inner(z, depth), nil, depth+1)
	case "bzip2":
		return w.open(name, w.inner(bzip2.NewReader(b), depth), nil, depth+1)
	case "xz":
		return w.xz(name, b, depth)
	case "zstd":
		return w.zstd(name, b, depth)
	case "tar":
		return w.tar(name, b, depth)
	case "zip":
		return w.zip(name, b, at, depth)
	}
	return w.text(name, b)
}

func (w *walk) inner(r io.Reader, depth int) *bufio.Reader {
	return w.buffered(&unpacking{r, w.meter}, depth+1)
}

// text reads a file that is not packed, if it holds what is read.
func (w *walk) text(name string, b *bufio.Reader) error {
	first, err := b.Peek(decode.HoldsPeek)
	slashed := filepath.ToSlash(name)
	holds := decode.Holds(slashed, first, w.marks) || len(first) > 0 && slices.ContainsFunc(w.files, func(of func(string) bool) bool { return of(slashed) })
	if !holds && w.ofNode(name, b, first) {
		w.bundle.Read++
		return w.over()
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) && !holds {
		return err
	}
	if !holds {
		w.bundle.Ignored++
		return nil
	}
	err = w.Cluster.ReadPart(shown(name), iproute.Reader(shown(name), b, w.Cluster.AddOutput), w.report)
	var bad *strict.Error
	switch {
	case errors.As(err, &bad):
		w.failed(name, bad)
		return w.over()
	case err != nil:
		return err
	}
	w.bundle.Read++
	return w.over()
}

// over is the error of a limit that was passed while a file was read, whose own error is
// about the file.
func (w *walk) over() error { return w.unpacked(0) }

// shown is the path of a file within an archive for people, whatever is in it.
func shown(name string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }
	if strings.ContainsFunc(name, odd) {
		name = strconv.QuoteToASCII(name)
	}
	if len(name) > 300 {
		name = "…" + name[len(name)-300:]
	}
	return name
}

// drive begins an absolute path of Windows'.
var drive = regexp.MustCompile(`^[A-Za-z]:(/|$)`)

// inside checks the path of an entry, and returns it in its shortest form.
func (w *walk) inside(name string) (string, error) {
	slashed := strings.ReplaceAll(name, `\`, "/")
	clean := path.Clean(slashed)
	if len(name) > pathMax {
		return "", limit("a path of more than %d characters", pathMax)
	}
	if !filepath.IsLocal(clean) || drive.MatchString(clean) {
		return "", limit("the path %s leaves the archive", strict.Quote(name))
	}
	for dir := path.Dir(clean); dir != "."; dir = path.Dir(dir) {
		if w.links[dir] {
			return "", limit("the path %s goes through a link in the archive", strict.Quote(name))
		}
	}
	return clean, nil
}
