package iproute

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"ipamsim/scenarios/dump/decode"
)

// reader takes the output of ip route, ip rule and ip addr out of what is read, and leaves an empty line
// for each line of it: what is behind it keeps its number.
type reader struct {
	in   *bufio.Reader
	name string
	add  func(Output)
	line int
	rest []byte // of what is handed over

	now  *Output // nil: no command was typed
	of   command
	dev  string
	json []byte
	// tries are how often json was read: each time costs all of it.
	tries int
	long  bool // the last line had no end: what follows belongs to it
	end   error
}

// How much JSON one command may print, and how many lines of it may look like its end.
const (
	jsonMost  = 4 << 20
	triesMost = 20
)

// Reader is what in holds without the output of ip route, ip rule and ip addr, which add gets.
func Reader(name string, in io.Reader, add func(Output)) io.Reader {
	return &reader{in: bufio.NewReaderSize(in, decode.HoldsPeek), name: name, add: add}
}

func (r *reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.end != nil {
			return 0, r.end
		}
		line, err := r.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			r.end = err
		}
		r.rest = line
		if !r.long {
			r.line++
			r.rest = r.take(line)
		}
		r.long = errors.Is(err, bufio.ErrBufferFull)
		if r.end != nil {
			r.finish(false)
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// take keeps a line of output, and returns what others see of it.
func (r *reader) take(line []byte) []byte {
	if r.now != nil {
		switch r.kept(line) {
		case isOutput:
			return []byte("\n")
		case isEmpty:
			return line
		}
		r.finish(isPrompt(line))
	}
	if len(line) < 2000 && bytes.Contains(line, []byte("ip")) {
		if c, ok := typed(strings.TrimRight(string(line), " \t\r\n")); ok {
			r.begin(c)
		}
	}
	return line
}

func (r *reader) begin(c command) {
	r.of, r.dev, r.json, r.tries = c, "", nil, 0
	r.now = &Output{From: decode.Origin{File: r.name, Line: r.line + 1}, Host: c.host, Pod: c.pod, Path: r.name, Table: c.table, Numeric: c.numeric}
}

type kind int

const (
	isOther kind = iota
	isOutput
	isEmpty
)

// kept keeps a line of the output of the command.
func (r *reader) kept(line []byte) kind {
	text := strings.TrimSpace(string(line))
	from := decode.Origin{File: r.name, Line: r.line}
	switch {
	case text == "":
		return isEmpty
	case r.json != nil || text[0] == '[' && r.now.empty() && !isPrompt(line):
		if len(r.json) > jsonMost || r.tries > triesMost {
			return isOther
		}
		r.json = append(r.json, line...)
		return r.whenJSON(from)
	case r.of.of == rules:
		x, ok := ruleLine(text)
		if !ok {
			return isOther
		}
		x.From = from
		r.now.Rules = append(r.now.Rules, x)
		return isOutput
	case r.of.of == routes && isNoTable(text):
		return isOutput
	case r.of.of == routes:
		x, ok := routeLine(text, r.of.six)
		if n := len(r.now.Routes); n > 0 && strings.HasPrefix(text, "nexthop ") {
			if last := &r.now.Routes[n-1]; last.words(strings.Fields(text)) {
				hop := " " + strings.Join(strings.Fields(text), " ")
				last.Text, last.plain = last.Text+hop, last.plain+hop
				return isOutput
			}
		}
		if !ok {
			return isOther
		}
		x.From = from
		r.now.Routes = append(r.now.Routes, r.tabled(x))
		return isOutput
	}
	a, has, ok := addrLine(text, &r.dev)
	if !ok {
		return isOther
	}
	if has {
		a.From = from
		r.now.Addrs = append(r.now.Addrs, a)
	}
	return isOutput
}

// tabled puts a route into the table of the command, which does not print it.
func (r *reader) tabled(x Route) Route {
	if x.Table == "main" && r.of.table != "all" {
		x.Table = r.of.table
	}
	return x
}

// isNoTable reports whether a line says that a table does not exist: it has no routes.
func isNoTable(text string) bool {
	return text == "Error: ipv4: FIB table does not exist." || text == "Error: ipv6: FIB table does not exist." || text == "Dump terminated"
}

// whenJSON reads JSON when it has come to its end.
func (r *reader) whenJSON(from decode.Origin) kind {
	text := bytes.TrimSpace(r.json)
	if !bytes.HasSuffix(text, []byte("]")) || bytes.HasSuffix(text, []byte("[ ]")) || bytes.HasSuffix(text, []byte("[]")) {
		return isOutput // "flags": [ ]
	}
	r.tries++
	ok := false
	switch r.of.of {
	case routes:
		var all []Route
		if all, ok = routesJSON(r.json, r.of.six); ok {
			for i := range all {
				all[i].From = from
				all[i] = r.tabled(all[i])
			}
			r.now.Routes = all
		}
	case rules:
		var all []Rule
		if all, ok = rulesJSON(r.json); ok {
			for i := range all {
				all[i].From = from
			}
			r.now.Rules = all
		}
	default:
		var all []Addr
		if all, ok = addrsJSON(r.json); ok {
			for i := range all {
				all[i].From = from
			}
			r.now.Addrs = all
		}
	}
	if ok {
		r.json = nil
	}
	return isOutput // or the array goes on
}

// finish hands the output over. It is whole if a prompt follows, which shows that the command
// had ended.
func (r *reader) finish(ended bool) {
	if r.now == nil {
		return
	}
	x := r.now
	r.now = nil
	x.Whole = ended && r.of.whole && r.json == nil
	x.Six = r.of.six
	x.Four = !r.of.six && !sixes(x.Routes)
	if slices.ContainsFunc(x.Routes, func(r Route) bool { return r.Table != x.Table }) {
		x.Table = "all" // a file whose name does not say so
	}
	r.add(*x)
}

func sixes(all []Route) bool {
	for i := range all {
		if all[i].Dst.IsValid() && all[i].Dst.Addr().Is6() && all[i].Dst.Bits() > 0 {
			return true
		}
	}
	return false
}

// isPrompt reports whether a line is that of a terminal that waits, or ends a fence.
func isPrompt(line []byte) bool {
	text := string(bytes.TrimRight(line, "\r\n"))
	return strings.HasPrefix(text, "```") || prompt.MatchString(text+" ")
}

// Typed reports whether text has a line in which ip route, ip rule or ip addr was typed.
func Typed(text []byte) bool {
	for line := range bytes.Lines(text) {
		if len(line) < 2000 && bytes.Contains(line, []byte("ip")) {
			if _, ok := typed(strings.TrimRight(string(line), " \t\r\n")); ok {
				return true
			}
		}
	}
	return false
}

// Named reports whether a file of a folder or an archive is named after ip route, ip rule or ip addr.
func Named(name string) bool {
	_, ok := ofFile(name)
	return ok
}

// File reads a file that is named after its command. ok is false if it holds something else.
// The file of a bundle is whole if its last line has an end.
func File(name string, in io.Reader) (out Output, ok bool, err error) {
	c, ok := ofFile(name)
	if !ok {
		return out, false, nil
	}
	r := &reader{name: name, in: bufio.NewReaderSize(in, decode.HoldsPeek), add: func(x Output) { out = x }}
	r.begin(c)
	r.now.From.Line = 1
	for {
		line, err := r.in.ReadSlice('\n')
		r.line++
		ended := err == nil
		if len(line) > 0 && r.kept(line) == isOther {
			return out, false, nil
		}
		if errors.Is(err, io.EOF) {
			r.finish(len(line) == 0 || r.json == nil && isClosed(line))
			return out, !out.empty(), nil
		}
		if !ended {
			return out, false, err
		}
	}
}

// isClosed reports whether JSON ends with a line.
func isClosed(line []byte) bool { return bytes.HasSuffix(bytes.TrimSpace(line), []byte("]")) }
