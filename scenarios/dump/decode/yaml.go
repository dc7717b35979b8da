package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"ipamsim/scenarios/strict"
)

// yaml reads one document, whose first line is given. The entries of a list that kubectl
// prints, "items:" in the first column, are read one by one, so that a list may be longer
// than memory. The kind of the list stands behind its items: a list without one was
// cut off.
func (in *input) yaml(line []byte) error {
	doc := &document{in: in, first: in.line, trim: trimmer{whole: in.Whole, programs: in.Programs}}
	if line[0] == '-' { // entries alone
		doc.items, doc.bare = true, true
		in.begins()
		in.back(line)
		if err := in.entries(doc); err != nil {
			return err
		}
	} else if err := doc.line(line); err != nil {
		return err
	} else if err := in.outdented(line); err != nil {
		return err
	}
	for {
		line, err := in.next()
		if isEnd(err) {
			break
		}
		if err != nil {
			return err
		}
		if noise(line) {
			in.skip("")
			continue
		}
		if doc.items && !doc.kind && ellipsis(line) {
			doc.abridged = in.line
			continue
		}
		if separates(line) || tableLine(line) || in.outside(line) || doc.repeats(line) {
			in.back(line)
			break
		}
		if err := doc.line(line); err != nil {
			return err
		}
	}
	return doc.end()
}

// document is what stands around the items of a list, or one object.
type document struct {
	in         *input
	first      int  // its first line
	items      bool // it is a list
	bare       bool // entries without a list around them
	kind       bool // its kind was read
	apiVersion bool
	late       deferred
	abridged   int           // the line of an ellipsis
	bad        *strict.Error // of an entry
	trim       trimmer
}

// line takes the next line.
func (d *document) line(line []byte) error {
	switch name := topKey(line); {
	case string(bytes.TrimRight(line, " ")) == "items:" && !d.items:
		d.items = true
		d.in.begins()
		return d.in.entries(d)
	case name == "kind":
		d.kind = true
	case name == "apiVersion":
		d.apiVersion = true
	}
	d.trim.line(line, 0)
	if d.trim.size() > objectMax {
		d.in.fatal = true
		return d.in.fail(d.first, "an object of more than %d MiB", objectMax>>20)
	}
	return nil
}

// repeats reports whether a line begins another document, without a line between the two:
// the output of two commands in one file.
func (d *document) repeats(line []byte) bool {
	switch topKey(line) {
	case "apiVersion":
		return d.apiVersion || d.bare && d.kind
	case "kind":
		return d.kind
	}
	return d.bare && bytes.HasPrefix(line, []byte("items:"))
}

// topKey is apiVersion or kind, if the line is that key in the first column.
func topKey(line []byte) string {
	for _, k := range []string{"apiVersion", "kind"} {
		if bytes.HasPrefix(line, []byte(k+":")) {
			return k
		}
	}
	return ""
}

// outdented finds out that all lines but the first are indented: the selection of a paste
// began at the first letter.
func (in *input) outdented(first []byte) error {
	if topKey(first) == "" || len(in.wraps) > 0 {
		return nil
	}
	line, err := in.next()
	if isEnd(err) {
		return nil
	}
	if err != nil {
		return err
	}
	text := bytes.TrimLeft(line, " ")
	if n := len(line) - len(text); n > 0 && begins.Match(text) && yamlKey.Match(text) {
		in.wraps = append(in.wraps, wrap{indented(n)})
		line = text
	}
	in.back(bytes.Clone(line))
	return nil
}

func (d *document) end() error {
	in, from := d.in, Origin{d.in.name, d.first}
	raw, err := toJSON(d.trim.text(), from)
	if err != nil {
		return err
	}
	if !d.items {
		return in.object(from, raw, 0)
	}
	var h listHead
	if err := json.Unmarshal(raw, &h); (err != nil || h.Kind == "") && !d.bare {
		return from.Fail("", "", "the list that begins here has no kind at its end: the file is cut off, dump it again")
	}
	if len(d.late.raw) > 0 && h.Kind == "" {
		return d.late.from[0].Fail("", "", "no apiVersion and kind: want the output of %s", in.tools("kubectl get -o yaml", " get -o yaml"))
	}
	if err := d.late.flush(in, h); err != nil {
		return err
	}
	if d.bad == nil && d.abridged == 0 && !d.bare {
		in.ended(from, h)
		return nil
	}
	return d.incomplete(from, h)
}

// incomplete passes on that a list lacks entries.
func (d *document) incomplete(from Origin, h listHead) error {
	in, bad := d.in, d.bad
	in.whole++
	l := in.headed(from, h)
	switch {
	case bad != nil:
	case d.abridged > 0:
		bad = in.fail(d.abridged, "an ellipsis marks omitted entries: the list is not complete")
	default:
		in.sections++
		in.reset()
		return nil
	}
	if in.Damaged == nil {
		return bad
	}
	in.Damaged(Damage{Err: bad, List: l, Kinds: in.kinds, Abridged: d.bad == nil})
	in.reset()
	return nil
}

// entries reads the entries of a list, up to the line that ends it.
func (in *input) entries(doc *document) error {
	indent, start := -1, 0
	item := trimmer{whole: in.Whole, programs: in.Programs}
	flush := func() error {
		if start == 0 {
			return nil
		}
		from := Origin{in.name, start}
		raw, err := toJSON(item.text(), from)
		item, start = trimmer{buf: item.buf[:0], whole: item.whole, programs: item.programs}, 0
		if err == nil {
			return in.entry(doc, from, raw)
		}
		var bad *strict.Error
		if in.Damaged == nil || !errors.As(err, &bad) {
			return err
		}
		if doc.bad == nil {
			doc.bad = bad
		}
		return nil
	}
	for {
		line, err := in.next()
		if isEnd(err) {
			if errors.Is(err, errUnwrapped) {
				in.wraps = nil
			}
			return flush()
		}
		if err != nil {
			return err
		}
		text := bytes.TrimLeft(line, " ")
		spaces := len(line) - len(text)
		blank := len(text) == 0
		begins := !blank && text[0] == '-' && (len(text) == 1 || text[1] == ' ') && (spaces == indent || indent < 0)
		switch {
		case !blank && (text[0] == '.' || text[0] == '#' || text[0] == '<' || text[0] == '[' || text[0] == '-' || text[0] >= 0x80 || text[0] == '(') && ellipsis(text):
			doc.abridged = in.line
			line = nil
		case begins:
			if err := flush(); err != nil {
				return err
			}
			indent, start = spaces, in.line
			line = append(append(bytes.Repeat([]byte{' '}, spaces+1), ' '), bytes.TrimPrefix(text[1:], []byte{' '})...)
			if len(bytes.TrimSpace(line)) == 0 {
				line = nil
			}
		case spaces == 0 && noise(text):
			in.skip("")
			line = nil
		case !blank && (text[0] != '#' || spaces == 0 && in.outside(line)) && (indent < 0 || spaces <= indent):
			in.back(line)
			return flush()
		}
		item.line(line, indent+2)
		if item.size() > objectMax {
			in.fatal = true
			return in.fail(start, "an object of more than %d MiB", objectMax>>20)
		}
	}
}

// entry adds one entry. In a list of one kind (PodList) they need none of their
// own.
func (in *input) entry(doc *document, from Origin, raw []byte) error {
	var h listHead
	if json.Unmarshal(raw, &h) == nil && h.Kind == "" {
		if !doc.kind {
			return doc.late.add(from, raw)
		}
		head, err := toJSON(doc.trim.text(), from)
		if err != nil || json.Unmarshal(head, &h) != nil || h.Kind == "" {
			return from.Fail("", "", "no apiVersion and kind: want the output of %s", in.tools("kubectl get -o yaml", " get -o yaml"))
		}
		raw = withKind(raw, h)
	}
	return in.object(from, raw, 1)
}

// toJSON reads YAML as kubectl does: words and numbers are what they are there, a
// key may be there once, and aliases may not expand without bound.
func toJSON(text []byte, from Origin) (raw []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = from.Fail("", "", "not YAML: %v", v)
		}
	}()
	if depth(text) > nestingMax {
		return nil, from.Fail("", "", "nested more than %d levels deep", nestingMax)
	}
	raw, err = yaml.YAMLToJSONStrict(text)
	if err != nil {
		line, problem := relative(err)
		from.Line += max(line-1, 0)
		return nil, from.Fail("", "", "not YAML, or cut off: %s", problem)
	}
	return raw, nil
}

// nestingMax bounds brackets within brackets; Kubernetes' own types reach 20.
const nestingMax = 100

// depth is an upper bound of how deep brackets are nested.
func depth(text []byte) int {
	if bytes.IndexByte(text, '[') < 0 && bytes.IndexByte(text, '{') < 0 {
		return 0
	}
	most, now := 0, 0
	for _, b := range text {
		switch b {
		case '[', '{':
			now++
			most = max(most, now)
		case ']', '}':
			now = max(now-1, 0)
		case '\n':
		}
	}
	return most
}

// relative takes the line out of an error of the YAML parser's.
func relative(err error) (line int, problem string) {
	s := OneLine(err)
	for _, prefix := range []string{"yaml: ", "error converting YAML to JSON: ", "yaml: ", "unmarshal errors: "} {
		s = strings.TrimPrefix(s, prefix)
	}
	if _, e := fmt.Sscanf(s, "line %d:", &line); e == nil {
		_, s, _ = strings.Cut(s, ": ")
	}
	return line, s
}
