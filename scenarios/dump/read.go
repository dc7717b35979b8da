package dump

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"ipamsim/scenarios/strict"
)

// What one piece of input may cost. etcd stores no object of more than 1.5 MiB;
// as YAML one can be several times as long, one word a line.
const (
	lineMax   = 16 << 20
	objectMax = 32 << 20
)

// Progress of Read, for people who wait.
type Progress struct {
	Bytes   int64
	Objects int
}

// input is one file on its way into a cluster.
type input struct {
	c        *Cluster
	name     string
	r        *bufio.Reader
	line     int // of what was read last
	bytes    int64
	objects  int
	progress func(Progress)
	head     []byte // what was read too far, to be read before r
	unread   []byte // a line that was read too far
	pending  bool
	listing  *Resource                           // what the list that follows is of, by its heading
	each     func(Origin, json.RawMessage) error // takes objects instead of c; nil: c does
}

// Read takes everything that a file holds: YAML and JSON as kubectl and calicoctl
// print them, one object or lists, and calicoctl's tables, in any order. It is
// read as a stream, object by object; name is for messages. progress, which may
// be nil, is called now and then.
//
// The error is a *strict.Error, one line with file and line. What had been read
// before it stays in the cluster.
func (c *Cluster) Read(name string, r io.Reader, progress func(Progress)) error {
	c.Source(name)
	return (&input{c: c, name: name, r: bufio.NewReaderSize(r, 256<<10), progress: progress}).all()
}

// all of the file.
func (in *input) all() error {
	if err := in.sniff(); err != nil {
		return err
	}
	before := in.objects + in.c.tables.rows()
	for {
		if in.bracket() {
			if err := in.json(); err != nil {
				return err
			}
			continue
		}
		line, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = in.section(line)
		}
		if err != nil {
			return err
		}
	}
	if in.objects+in.c.tables.rows() == before && in.bytes == 0 {
		return in.fail(0, "empty")
	}
	in.report()
	return nil
}

func (in *input) fail(line int, format string, args ...any) *strict.Error {
	return Origin{in.name, line}.fail("", "", format, args...)
}

// starts are beginnings of files that are something else.
var starts = []struct{ bytes, problem string }{
	{"\x1f\x8b", "compressed with gzip: unpack it first, e.g. gunzip -c FILE | ipamsim import -"},
	{"PK\x03\x04", "a zip archive: unpack it first"},
	{"BZh", "compressed with bzip2: unpack it first"},
	{"\xfd7zXZ", "compressed with xz: unpack it first"},
	{"(\xb5/\xfd", "compressed with zstd: unpack it first"},
	{"\xff\xfe", "UTF-16 text, as PowerShell's > writes it: want UTF-8, e.g. kubectl … | Out-File -Encoding utf8 FILE"},
	{"\xfe\xff", "UTF-16 text: want UTF-8"},
	{"SQLite format 3", "a database of SQLite's: want what kubectl get -o yaml prints"},
	{"\x7fELF", "a program: want what kubectl get -o yaml prints"},
}

// sniff looks at the first bytes.
func (in *input) sniff() error {
	first, err := in.r.Peek(16)
	if err != nil && !errors.Is(err, io.EOF) {
		return in.fail(0, "%s", oneLine(err))
	}
	for _, s := range starts {
		if bytes.HasPrefix(first, []byte(s.bytes)) {
			return in.fail(0, "%s", s.problem)
		}
	}
	if bytes.HasPrefix(first, []byte("\xef\xbb\xbf")) {
		_, _ = in.r.Discard(3)
	}
	return nil
}

// next is the next line without its end, io.EOF behind the last one. The slice
// is valid until the next call.
func (in *input) next() ([]byte, error) {
	if in.pending {
		in.pending = false
		return in.unread, nil
	}
	in.line++
	line, err := in.slice()
	if len(line) == 0 && err != nil {
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		var bad *strict.Error
		if errors.As(err, &bad) {
			return nil, err
		}
		return nil, in.fail(in.line, "%s", oneLine(err))
	}
	in.bytes += int64(len(line))
	if bytes.IndexByte(line, 0) >= 0 {
		return nil, in.fail(in.line, "binary: want text, as kubectl get -o yaml or calicoctl print it")
	}
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	return line, nil
}

// slice reads up to the end of the line.
func (in *input) slice() ([]byte, error) {
	if i := bytes.IndexByte(in.head, '\n'); i >= 0 {
		line := in.head[:i+1]
		in.head = in.head[i+1:]
		return line, nil
	}
	line, err := in.r.ReadSlice('\n')
	if len(in.head) > 0 || errors.Is(err, bufio.ErrBufferFull) {
		first := append(in.head, line...)
		in.head = nil
		if !errors.Is(err, bufio.ErrBufferFull) {
			return first, err
		}
		return in.long(first)
	}
	return line, err
}

func (in *input) long(first []byte) ([]byte, error) {
	line := bytes.Clone(first)
	for {
		more, err := in.r.ReadSlice('\n')
		if len(line)+len(more) > lineMax {
			return nil, in.fail(in.line, "a line of more than %d MiB", lineMax>>20)
		}
		line = append(line, more...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return line, err
		}
	}
}

// bracket reports whether JSON begins here. It is not looked at line by line: all of
// it may be one.
func (in *input) bracket() bool {
	first := in.head
	if in.pending {
		return false
	}
	if len(first) == 0 {
		first, _ = in.r.Peek(1)
	}
	return len(first) > 0 && (first[0] == '{' || first[0] == '[')
}

// back gives a line back, to be read again.
func (in *input) back(line []byte) { in.unread, in.pending = line, true }

// section reads whatever begins with this line.
func (in *input) section(line []byte) error {
	text := bytes.TrimSpace(line)
	switch {
	case len(text) == 0, text[0] == '#':
		return nil
	case separates(line):
		in.listing = headed(line)
		return nil
	case text[0] == '{', text[0] == '[':
		in.head = append(append(bytes.Clone(line), '\n'), in.head...)
		in.line--
		return in.json()
	case tableLine(line):
		in.back(line)
		return in.table()
	case text[0] == '<':
		return in.fail(in.line, "looks like HTML: want what kubectl get -o yaml or calicoctl prints")
	case bytes.HasPrefix(text, []byte("NAME ")) || bytes.HasPrefix(text, []byte("NAMESPACE ")):
		return in.fail(in.line, "a table of kubectl's, which leaves out what matters: add -o yaml to the command")
	case prompt(text) || noise(text):
		return nil
	}
	in.back(line)
	return in.yaml()
}

// separates reports whether a line stands between documents: YAML's own, and what
// calicoctl datastore migrate export puts between its parts.
func separates(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) && (len(line) == 3 || line[3] == ' ') || string(line) == "..." || string(line) == "==="
}

// prompt reports whether a line is a command that somebody typed, in the log of a
// terminal.
func prompt(text []byte) bool {
	i := bytes.Index(text, []byte("calicoctl "))
	if i < 0 {
		i = bytes.Index(text, []byte("kubectl "))
	}
	return i > 0 && strings.ContainsAny(string(text[:i]), "#$>%") && !bytes.Contains(text[:i], []byte(": "))
}

// noise are lines that kubectl and calicoctl print besides.
func noise(text []byte) bool {
	for _, s := range []string{"No resources found", "Note: found ", "Warning: "} {
		if bytes.HasPrefix(text, []byte(s)) {
			return true
		}
	}
	return false
}

// add hands an object to the cluster.
func (in *input) add(from Origin, raw []byte) error {
	in.objects++
	if in.objects%1000 == 0 {
		in.report()
	}
	if !utf8.Valid(raw) {
		return from.fail("", "", "not UTF-8 text")
	}
	if in.each != nil {
		return in.each(from, raw)
	}
	return in.c.Add(from, raw)
}

func (in *input) report() {
	if in.progress != nil {
		in.progress(Progress{in.bytes, in.objects})
	}
}
