package decode

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"ipamsim/scenarios/strict"
)

// errUnwrapped ends a document: the next line lacks the prefix that the lines before
// it share.
var errUnwrapped = errors.New("unwrapped")

// isEnd reports whether no line follows in what is being read.
func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, errUnwrapped) }

// next is the next line without its end and without what a paste put before it,
// io.EOF behind the last one. The slice is valid until the next call.
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
			in.fatal = true
			return nil, err
		}
		in.fatal = true
		return nil, in.fail(in.line, "%s", OneLine(err))
	}
	in.bytes += int64(len(line))
	if in.bytes-in.reported > reportEvery {
		in.report()
	}
	if bytes.IndexByte(line, 0) >= 0 {
		if in.key != "" { // a value of etcd's: protobuf
			in.skip("binary")
			return nil, nil
		}
		in.fatal = true
		return nil, in.fail(in.line, "binary: want the text output of %s", in.tools("kubectl get -o yaml", ""))
	}
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	return in.unwrapped(in.plain(line))
}

// reportEvery is after how many bytes progress is reported.
const reportEvery = 1 << 20

// plain removes what a terminal interprets, and expands tabs at the beginning.
func (in *input) plain(line []byte) []byte {
	if bytes.IndexByte(line, 0x1b) >= 0 || bytes.IndexByte(line, '\a') >= 0 || bytes.IndexByte(line, '\b') >= 0 {
		line = escapes.ReplaceAll(line, nil)
	}
	if len(line) > 0 && (line[0] >= 0x80 || bytes.Contains(line, noBreak) || bytes.Contains(line, quoteMark)) {
		line = typewriter.Replace(line)
	}
	for i, c := range line {
		if c == '\t' {
			return in.expanded(line)
		}
		if c != ' ' {
			in.column = i
			if c == '-' && i+1 < len(line) && line[i+1] == ' ' {
				in.column += 2
			}
			break
		}
	}
	return line
}

// escapes are the control sequences that set colours and titles (ECMA-48: CSI, OSC).
var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(\x07|\x1b\\\\)|\x1b[()][A-Z0-9]|\x1b[=>]|\a|.\b")

// What word processors and web pages make of blanks and quotes.
var (
	noBreak   = []byte("\u00a0")
	quoteMark = []byte("\u201c")
)

type substitutes struct{ *strings.Replacer }

func (s substitutes) Replace(line []byte) []byte { return []byte(s.Replacer.Replace(string(line))) }

var typewriter = substitutes{strings.NewReplacer("\u00a0", " ", "\u201c", `"`, "\u201d", `"`, "\ufeff", "", "\u200b", "")}

// expanded replaces tabs at the beginning of a line by spaces. The distance of tab stops
// is 8, as unexpand and terminals have it, or 2 where an editor made a tab of each level:
// then the first tab stands right behind a line that is not indented by 6 or more.
func (in *input) expanded(line []byte) []byte {
	text := bytes.TrimLeft(line, " \t")
	if len(in.wraps) == 0 && numbered.Match(line) || len(text) == 0 {
		return line
	}
	if in.tab == 0 {
		in.tab = 8
		if in.column < 5 {
			in.tab = 2
		}
	}
	width := 0
	for _, c := range line[:len(line)-len(text)] {
		if width++; c == '\t' {
			width = (width + in.tab - 1) / in.tab * in.tab
		}
	}
	in.column = width
	return append(bytes.Repeat([]byte{' '}, width), text...)
}

// wrap is what a paste puts before each line. cut returns the line without it; ok is
// false for a line that lacks it.
type wrap struct {
	cut func(line []byte) (rest []byte, ok bool)
}

// unwrapped removes what the lines of a paste have in common.
func (in *input) unwrapped(line []byte) ([]byte, error) {
	whole := line
	for i := range in.wraps {
		rest, ok := in.wraps[i].cut(line)
		if !ok {
			in.wraps = nil
			in.back(bytes.Clone(whole))
			return nil, errUnwrapped
		}
		line = rest
	}
	return line, nil
}

// Prefixes of a paste: those of quotes and diffs, line numbers, times of a CI log.
var (
	quoted   = regexp.MustCompile(`^[ \t]*(?:>[ \t]?)+`)
	numbered = regexp.MustCompile(`^[ \t]*[0-9]{1,7}(\t|: ?| ?[|│] ?| )`)
	stamped  = regexp.MustCompile(`^\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{8}(?:[.,][0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?\]? `)
	// begins is how output begins that is read.
	begins = regexp.MustCompile("^(?:- )?[\"']?(?:apiVersion|kind|items|metadata)[\"']?:(?: |$)|^---( |$)|^```|^\\+--|^\\{\\s*(\"|$)|^(?:[$#] )?(?:kubectl|oc|[a-z]+ctl) ")
)

// wrapped finds out what stands before a line that begins a document, and returns the
// line without it.
func (in *input) wrapped(line []byte) []byte {
	for range wrapsMax {
		if len(line) == 0 || begins.Match(line) {
			break
		}
		w, rest := wrapOf(line)
		if w == nil {
			break
		}
		in.wraps = append(in.wraps, *w)
		line = rest
	}
	if len(in.wraps) > 0 && !begins.Match(line) {
		in.wraps = in.wraps[:0]
		return nil
	}
	return line
}

// wrapsMax bounds quotes of indented pastes with line numbers.
const wrapsMax = 4

func wrapOf(line []byte) (*wrap, []byte) {
	if m := quoted.Find(line); m != nil {
		cut := func(l []byte) ([]byte, bool) {
			p := quoted.Find(l)
			if len(p) > len(m) {
				p = p[:len(m)]
			}
			return l[len(p):], p != nil
		}
		return &wrap{cut}, line[len(m):]
	}
	if m := stamped.Find(line); m != nil {
		cut := func(l []byte) ([]byte, bool) {
			p := stamped.Find(l)
			if p == nil { // the line is empty, and the blank behind its time is gone
				p = stamped.Find(append(bytes.Clone(l), ' '))
				return nil, p != nil
			}
			return l[len(p):], true
		}
		return &wrap{cut}, line[len(m):]
	}
	if m := numbered.FindSubmatch(line); m != nil {
		return numberWrap(m[1]), line[len(m[0]):]
	}
	if n := len(line) - len(bytes.TrimLeft(line, " ")); n > 0 {
		return &wrap{indented(n)}, line[n:]
	}
	return nil, nil
}

// numberWrap is that of lines with numbers, which one text divides from the line.
func numberWrap(between []byte) *wrap {
	between = bytes.Clone(between)
	return &wrap{func(l []byte) ([]byte, bool) {
		digits := bytes.TrimLeft(l, " \t")
		rest := bytes.TrimLeft(digits, "0123456789")
		if len(rest) == len(digits) {
			return l, len(digits) == 0
		}
		if len(rest) == 0 || len(bytes.TrimRight(rest, " ")) == 0 {
			return nil, true
		}
		if bytes.HasPrefix(rest, between) {
			return rest[len(between):], true
		}
		out := bytes.TrimRight(between, " ")
		return bytes.TrimPrefix(rest, out), len(out) > 0 && bytes.HasPrefix(rest, out)
	}}
}

func indented(n int) func([]byte) ([]byte, bool) {
	return func(l []byte) ([]byte, bool) {
		have := len(l) - len(bytes.TrimLeft(l, " "))
		if have == len(l) {
			return nil, true
		}
		return l[min(n, have):], have >= n
	}
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

// back gives a line back, to be read again.
func (in *input) back(line []byte) { in.unread, in.pending = line, true }
