// Package decode reads dumps of a cluster object by object: the output of kubectl and of the tools
// of address managers, in any order. It does not interpret the objects.
package decode

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"

	"ipamsim/scenarios/strict"
)

// What one piece of input may cost. etcd stores no object of more than 1.5 MiB;
// as YAML one can be several times as long, one word a line.
const (
	lineMax   = 16 << 20
	objectMax = 32 << 20
)

// Progress is the progress of Read.
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
	// many objects it counts for; ok is false if it is none that is known. A pair of etcd's
	// is a Pair as JSON, a line of a tool's text is a JSON string.
	Document func(from Origin, raw json.RawMessage) (n int, ok bool, err error)
	// Row takes a line of a table. Head are the table's column names, joined by |. At the end of a
	// table, row is nil; an empty table is reported as well.
	Row func(from Origin, head string, row []string) error
	// Absent takes what a command printed in place of objects.
	Absent func(Absent)
	// Damaged takes what cannot be read, and the rest is read on. Nil: Read ends with it.
	Damaged func(Damage)
	// Skipped is called at the end with the number of lines that are prose, prompts or
	// other tools' output.
	Skipped func(lines int)
	// Progress is called now and then.
	Progress func(Progress)

	Tools    []string // tools other than kubectl that print objects, for messages
	Programs []string // parts of the names of workloads whose images are kept
	Whole    bool     // nothing of an object is left out: else what says nothing about addresses may be
}

// List is the metadata of a list.
type List struct {
	APIVersion, Kind string // Kind is that of its objects; "": any
	ResourceVersion  string
	// Resource is the full name of what the list is of, by the heading before it; "":
	// there was none.
	Resource string
	// From is where the list begins. Command is the command at the prompt before it, word by word; nil:
	// unknown. Asked is its scope; nil if no command is known. Named: the file name is the evidence.
	From    Origin
	Command []string
	Asked   *Asked
	Named   bool
	// Objects are counted by kind and namespace. Cut: the list itself reports that more objects follow.
	Objects map[Of]int
	Cut     bool
}

// Damage is a document that could not be read, or not to its end. A list that is damaged
// is not passed to Sink.List.
type Damage struct {
	Err *strict.Error
	// List is what is known of it.
	List List
	// Kinds are those of the objects that were read of it, each once.
	Kinds []List
	// Object: a single object that the sink refused; the list around it goes on.
	Object bool
	// Abridged: the document is whole but for an ellipsis, in place of entries.
	Abridged bool
}

// Of is of what objects are counted.
type Of struct{ APIVersion, Kind, Namespace string }

// Heading begins a line with the full name of the resource of the list that follows: kubectl
// itself does not print the kind of an empty list. A number before the name counts the objects of
// the list that precedes the line; in a list that was edited later, the count is wrong.
const Heading = "--- # "

// input is one file on its way into a sink.
type input struct {
	Sink
	name     string
	r        *bufio.Reader
	line     int // of what was read last
	bytes    int64
	reported int64 // of bytes
	objects  int
	head     []byte // what was read too far, to be read before r
	unread   []byte // a line that was read too far
	pending  bool

	listing    string   // what the list that follows is of, by its heading
	typedWords []string // the command whose output follows
	key        string   // of etcd's, whose value follows
	kinds      []List   // of the objects of the document that is being read
	wraps      []wrap   // what stands before each line of a paste
	tab        int      // distance of tab stops, 0: not known
	column     int      // in which the line before begins
	resync     bool     // lines are skipped up to the next beginning of an object
	fatal      bool     // nothing can be read on
	skipped    int      // lines
	first      skipped  // the first of these
	sections   int      // documents, tables and lines that were read
	whole      int      // those that were read to their ends
	bad        error    // of the first document that could not be read
	evidence
}

// skipped is a line that nothing is known of.
type skipped struct {
	at    int
	words string
}

// Read takes everything that a file holds: YAML and JSON as kubectl and the tools of
// managers print them, one object or lists, and tables, in any order, and what a paste has
// around them: prompts, fences, messages, prefixes of lines. It is read as a stream,
// object by object; name is for messages.
//
// The error is that of the sink or a *strict.Error, one line with file and line. What had
// been read before it was handed over. With Sink.Damaged a document that cannot be read is
// the error only if nothing else in the file is whole.
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
		err := in.one()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, errUnwrapped) {
			if err = in.damaged(err); err != nil {
				return err
			}
		}
	}
	if in.bytes == 0 {
		return in.fail(0, "empty")
	}
	in.release(true)
	switch {
	case in.whole == 0 && in.bad != nil:
		return in.bad
	case in.sections == 0 && in.first.at > 0:
		return in.unknown()
	}
	if in.Skipped != nil && in.skipped > 0 {
		in.Skipped(in.skipped)
	}
	in.report()
	return nil
}

// one document, table or line.
func (in *input) one() error {
	if !in.resync && len(in.wraps) == 0 && in.bracket() {
		return in.json(nil)
	}
	line, err := in.next()
	if err != nil {
		return err
	}
	return in.section(line)
}

// damaged passes on what cannot be read, and goes on behind it. It returns the error if
// that is not possible.
func (in *input) damaged(err error) error {
	var bad *strict.Error
	if in.Damaged == nil || !errors.As(err, &bad) {
		return err
	}
	in.sections++
	if in.bad == nil {
		in.bad = bad
	}
	in.release(false)
	in.docs++
	in.Damaged(Damage{Err: bad, List: List{Resource: in.listing, Command: in.typedWords}, Kinds: in.kinds})
	in.reset()
	if in.fatal {
		return err
	}
	return nil
}

// skip counts a line that nothing is known of.
func (in *input) skip(text string) {
	if in.skipped++; in.first.at == 0 && text != "" {
		in.first = skipped{in.line, text}
	}
}

// unknown returns the error of a file without anything that could be read.
func (in *input) unknown() error {
	line := in.first.words
	switch {
	case line[0] == '<':
		return in.fail(in.first.at, "looks like HTML: want the output of %s", in.tools("kubectl get -o yaml", ""))
	case tableOfKubectl.MatchString(line):
		return in.fail(in.first.at, "a table of kubectl, which omits most fields: add -o yaml to the command")
	case yamlKey.MatchString(line):
		return in.fail(in.first.at, "no apiVersion and kind: want the output of %s", in.tools("kubectl get -o yaml", " get -o yaml"))
	}
	return in.fail(in.first.at, "want an object with apiVersion and kind: want a mapping, not text")
}

// tableOfKubectl is the first line of what kubectl get prints without -o.
var tableOfKubectl = regexp.MustCompile(`^(NAMESPACE +)?NAME +[A-Z]`)

func (in *input) fail(line int, format string, args ...any) *strict.Error {
	return Origin{in.name, line}.Fail("", "", format, args...)
}

// starts are beginnings of files that are something else.
var starts = []struct{ bytes, problem string }{
	{"\x1f\x8b", "compressed with gzip: unpack it first, e.g. gunzip -c FILE | ipamsim import -"},
	{"PK\x03\x04", "a zip archive: unpack it first"},
	{"BZh", "compressed with bzip2: unpack it first"},
	{"\xfd7zXZ", "compressed with xz: unpack it first"},
	{"7z\xbc\xaf", "compressed with 7-Zip: unpack it first"},
	{"Rar!", "compressed with RAR: unpack it first"},
	{"(\xb5/\xfd", "compressed with zstd: unpack it first"},
	{"SQLite format 3", "an SQLite database: want the output of kubectl get -o yaml"},
	{"\x7fELF", "a program: want the output of kubectl get -o yaml"},
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
	switch {
	case bytes.HasPrefix(first, []byte("\xef\xbb\xbf")):
		_, _ = in.r.Discard(3)
	case bytes.HasPrefix(first, []byte("\xff\xfe")), bytes.HasPrefix(first, []byte("\xfe\xff")): // as PowerShell's > writes it
		text := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Reader(in.r)
		in.r = bufio.NewReaderSize(text, 256<<10)
	}
	return nil
}

// bracket reports whether JSON begins here. It is not looked at line by line: all of
// it may be one.
func (in *input) bracket() bool {
	first := in.head
	if in.pending {
		return false
	}
	if len(first) < peekMax {
		more, _ := in.r.Peek(peekMax - len(first))
		first = append(bytes.Clone(first), more...)
	}
	return beginsJSON(first)
}

// peekMax is how much of a line decides what it is.
const peekMax = 64

// jsonStart separates JSON from other text with a bracket: the prompt [root@host ~]#, the
// time [10:00:00], Jira's {code}.
var jsonStart = regexp.MustCompile(`^(?:\{\s*(?:["}]|$)|\[\s*(?:[{\["\]]|$|-?[0-9.eE+]+\s*[,\]]))`)

func beginsJSON(text []byte) bool {
	return len(text) > 0 && (text[0] == '{' || text[0] == '[') && jsonStart.Match(text[:min(len(text), peekMax)])
}

// section reads whatever begins with this line.
func (in *input) section(line []byte) error {
	if len(in.wraps) == 0 {
		if rest := in.wrapped(line); rest != nil {
			line = rest
		}
	}
	text := bytes.TrimSpace(line)
	if in.resync {
		if in.resync = !in.restarts(line); in.resync {
			in.skip("")
			return nil
		}
	}
	switch {
	case len(text) == 0:
		return nil
	case separates(line):
		in.listing = in.heading(line)
		return nil
	case fence(text):
		return nil
	case beginsJSON(text):
		return in.json(append(bytes.Clone(line), '\n'))
	case tableLine(line):
		in.back(line)
		return in.table()
	}
	if words, ok := in.command(text); ok && (words != nil || text[0] != '#') {
		if words == nil { // of another program, whose output a manager may know
			if _, err := in.document(Origin{in.name, in.line}, string(text)); err != nil {
				return err
			}
		}
		return in.typed(words)
	}
	if noise(text) || in.absent(text) || text[0] == '#' {
		return nil
	}
	if begins.Match(line) {
		return in.yaml(bytes.Clone(line))
	}
	return in.text(text)
}

// restarts reports whether a line begins something behind a document that could not be
// read.
func (in *input) restarts(line []byte) bool {
	if len(line) == 0 || line[0] == ' ' {
		return false
	}
	if _, ok := in.command(line); ok {
		return true
	}
	return separates(line) || fence(line) || begins.Match(line) || tableLine(line)
}

// text takes a line that is neither YAML nor JSON.
func (in *input) text(text []byte) error {
	from := Origin{in.name, in.line}
	if bytes.HasPrefix(text, []byte("==== START logs")) {
		return in.log()
	}
	if key, value, ok := etcdLine(text); ok {
		if value != nil {
			return in.pair(from, in.key, value)
		}
		in.key = key
		return nil
	}
	if ok, err := in.document(from, string(text)); ok || err != nil {
		return err
	}
	if in.key == "" {
		in.typedWords = nil
	}
	in.skip(string(text[:min(len(text), 200)]))
	return nil
}

// document hands over what is no object, as JSON.
func (in *input) document(from Origin, v any) (ok bool, err error) {
	if in.Document == nil {
		return false, nil
	}
	raw, ok := v.(json.RawMessage)
	if !ok {
		if raw, err = json.Marshal(v); err != nil {
			return false, nil // not text
		}
	}
	n, ok, err := in.Document(from, raw)
	if err != nil {
		return true, in.refused(from, err)
	}
	if ok {
		in.objects += n
		in.sections++
		in.whole++
	}
	return ok, nil
}

// log skips a container's log as kubectl cluster-info dump prints it.
func (in *input) log() error {
	for {
		line, err := in.next()
		if err != nil {
			return err
		}
		in.skipped++
		if bytes.HasPrefix(line, []byte("==== END logs")) {
			return nil
		}
	}
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
	in.typedWords = nil
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

// add hands an object over.
func (in *input) add(from Origin, raw []byte) error {
	in.objects++
	if in.objects%1000 == 0 {
		in.report()
	}
	in.sections++
	if !utf8.Valid(raw) {
		return in.refused(from, from.Fail("", "", "not UTF-8 text"))
	}
	if err := in.Object(from, raw); err != nil {
		return in.refused(from, err)
	}
	return nil
}

// refused passes on the sink's error about an object, and continues behind it.
func (in *input) refused(from Origin, err error) error {
	var bad *strict.Error
	if in.Damaged == nil || !errors.As(err, &bad) {
		return err
	}
	in.Damaged(Damage{Err: bad, List: List{From: from, Resource: in.listing, Command: in.typedWords}, Kinds: in.kinds[max(len(in.kinds)-1, 0):], Object: true})
	return nil
}

func (in *input) report() {
	in.reported = in.bytes
	if in.Progress != nil {
		in.Progress(Progress{in.bytes, in.objects})
	}
}
