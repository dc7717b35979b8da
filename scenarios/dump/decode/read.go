// Package decode reads what people dump of a cluster: the output of kubectl and of the
// tools of address managers, in any mixture, object by object. What an object says is for
// whoever takes it.
package decode

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
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

// Sink takes what a file holds, in the order of the file. Object is required; what
// another nil function would take is left out.
type Sink struct {
	// Object takes an object as JSON, with the kind of its list where it has none of its
	// own.
	Object func(from Origin, raw json.RawMessage) error
	// List is called behind the last object of a list. Count is called behind a line that
	// counts the objects of the list before it.
	List  func(List)
	Count func(resource string, n int)
	// Document takes JSON without a kind, as a tool of a manager's own prints it. n is how
	// many objects it counts for; ok is false if it is none that is known.
	Document func(from Origin, raw json.RawMessage) (n int, ok bool, err error)
	// Row takes a line of a table. Head are the table's column names, joined by |. At the
	// end of a table row is nil: one without lines is told, too.
	Row func(from Origin, head string, row []string) error
	// Progress is called now and then.
	Progress func(Progress)

	Tools    []string // that print objects besides kubectl, for messages
	Programs []string // parts of the names of workloads of which the images are kept
	Whole    bool     // nothing of an object is left out: else what says nothing about addresses may be
}

// List is what a list says of itself.
type List struct {
	APIVersion, Kind string // Kind is that of its objects; "": any
	ResourceVersion  string
	// Resource is the full name of what the list is of, by the heading before it; "":
	// there was none. Asked is the command that printed the list, nil if nothing records
	// one; Named says that it is the name of the file.
	Resource string
	Asked    *Asked
	Named    bool
	// Objects are counted by kind and namespace. Cut says that the list itself reports that
	// more objects follow.
	Objects map[Of]int
	Cut     bool
}

// Of is of what objects are counted.
type Of struct{ APIVersion, Kind, Namespace string }

// Heading begins a line that says of which resource the list is that follows it, by the
// resource's full name. kubectl itself does not say of which kind a list is that is empty.
// With a number before the name it counts the objects of the list that it follows: of a
// list that was edited since the count is wrong.
const Heading = "--- # "

// input is one file on its way into a sink.
type input struct {
	Sink
	name    string
	r       *bufio.Reader
	line    int // of what was read last
	bytes   int64
	objects int
	head    []byte // what was read too far, to be read before r
	unread  []byte // a line that was read too far
	pending bool
	listing string // what the list that follows is of, by its heading
	evidence
}

// Read takes everything that a file holds: YAML and JSON as kubectl and the tools of
// managers print them, one object or lists, and tables, in any order. It is read as a
// stream, object by object; name is for messages.
//
// The error is that of the sink or a *strict.Error, one line with file and line. What had
// been read before it was handed over.
func Read(name string, r io.Reader, to Sink) error {
	in := &input{Sink: to, name: name, r: bufio.NewReaderSize(r, 256<<10)}
	in.named = AskedByName(name, to.Tools)
	return in.all()
}

// all of the file.
func (in *input) all() error {
	if err := in.sniff(); err != nil {
		return err
	}
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
	if in.bytes == 0 {
		return in.fail(0, "empty")
	}
	in.release(true)
	in.report()
	return nil
}

func (in *input) fail(line int, format string, args ...any) *strict.Error {
	return Origin{in.name, line}.Fail("", "", format, args...)
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
		return in.fail(0, "%s", OneLine(err))
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
		return nil, in.fail(in.line, "%s", OneLine(err))
	}
	in.bytes += int64(len(line))
	if bytes.IndexByte(line, 0) >= 0 {
		return nil, in.fail(in.line, "binary: want text, as %s print it", in.tools("kubectl get -o yaml", ""))
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
	case len(text) == 0:
		return nil
	case text[0] == '#':
		in.ask(text)
		return nil
	case separates(line):
		in.listing = in.heading(line)
		return nil
	case text[0] == '{', text[0] == '[':
		in.head = append(append(bytes.Clone(line), '\n'), in.head...)
		in.line--
		return in.json()
	case tableLine(line):
		in.back(line)
		return in.table()
	case text[0] == '<':
		return in.fail(in.line, "looks like HTML: want what %s prints", in.tools("kubectl get -o yaml", ""))
	case bytes.HasPrefix(text, []byte("NAME ")) || bytes.HasPrefix(text, []byte("NAMESPACE ")):
		return in.fail(in.line, "a table of kubectl's, which leaves out what matters: add -o yaml to the command")
	case in.prompt(text):
		in.ask(text)
		return nil
	case noise(text):
		return nil
	}
	in.back(line)
	return in.yaml()
}

// tools are those whose output is wanted, in words; each but the first with args.
func (in *input) tools(kubectl, args string) string {
	return strings.Join(append([]string{kubectl}, suffixed(in.Tools, args)...), " or ")
}

func suffixed(all []string, end string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = s + end
	}
	return out
}

// heading is the resource that a separator names, "" if it names none.
func (in *input) heading(line []byte) string {
	name, ok := strings.CutPrefix(string(line), Heading)
	if !ok {
		return ""
	}
	in.asked = nil
	number, resource, counts := strings.Cut(strings.TrimSpace(name), " ")
	n, err := strconv.Atoi(number)
	if !counts || err != nil {
		return strings.TrimSpace(name)
	}
	if in.Count != nil {
		in.Count(strings.TrimSpace(resource), n)
	}
	return ""
}

// separates reports whether a line stands between documents: YAML's own, and what
// calicoctl datastore migrate export puts between its parts.
func separates(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) && (len(line) == 3 || line[3] == ' ') || string(line) == "..." || string(line) == "==="
}

// prompt reports whether a line is a command that somebody typed, in the log of a
// terminal.
func (in *input) prompt(text []byte) bool {
	i := -1
	for _, tool := range append(slices.Clone(in.Tools), "kubectl") {
		if i = bytes.Index(text, []byte(tool+" ")); i >= 0 {
			break
		}
	}
	return i > 0 && strings.ContainsAny(string(text[:i]), "#$>%") && !bytes.Contains(text[:i], []byte(": "))
}

// noise are lines that the tools print besides.
func noise(text []byte) bool {
	return slices.ContainsFunc([]string{"No resources found", "Note: found ", "Warning: "}, func(s string) bool {
		return bytes.HasPrefix(text, []byte(s))
	})
}

// add hands an object over.
func (in *input) add(from Origin, raw []byte) error {
	in.objects++
	if in.objects%1000 == 0 {
		in.report()
	}
	if !utf8.Valid(raw) {
		return from.Fail("", "", "not UTF-8 text")
	}
	return in.Object(from, raw)
}

func (in *input) report() {
	if in.Progress != nil {
		in.Progress(Progress{in.bytes, in.objects})
	}
}
