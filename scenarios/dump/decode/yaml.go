package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"
)

// yaml reads one document. The entries of a list that kubectl prints, "items:"
// in the first column, are read one by one, so that a list may be longer than
// memory. The kind of the list stands behind its items: a list without one was
// cut off.
func (in *input) yaml() error {
	doc := &document{in: in, first: in.line, trim: trimmer{whole: in.Whole, programs: in.Programs}}
	for {
		line, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if separates(line) || tableLine(line) {
			in.back(line)
			break
		}
		if string(bytes.TrimRight(line, " ")) == "items:" && !doc.items {
			doc.items = true
			in.begins()
			if err := in.entries(doc); err != nil {
				return err
			}
			continue
		}
		doc.trim.line(line, 0)
		if doc.trim.size() > objectMax {
			return in.fail(doc.first, "an object of more than %d MiB", objectMax>>20)
		}
	}
	return doc.end()
}

// document is what stands around the items of a list, or one object.
type document struct {
	in    *input
	first int // its first line
	items bool
	trim  trimmer
}

func (d *document) end() error {
	from := Origin{d.in.name, d.first}
	raw, err := toJSON(d.trim.text(), from)
	if err != nil {
		return err
	}
	if !d.items {
		return d.in.object(from, raw, 0)
	}
	var h listHead
	if err := json.Unmarshal(raw, &h); err != nil || h.Kind == "" {
		return from.Fail("", "", "the list that begins here has no kind at its end: the file is cut off, dump it again")
	}
	d.in.ended(h)
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
		if err == nil {
			err = in.entry(doc, from, raw)
		}
		item, start = trimmer{buf: item.buf[:0], whole: item.whole, programs: item.programs}, 0
		return err
	}
	for {
		line, err := in.next()
		if errors.Is(err, io.EOF) {
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
		case begins:
			if err := flush(); err != nil {
				return err
			}
			indent, start = spaces, in.line
			line = append(append(bytes.Repeat([]byte{' '}, spaces+1), ' '), bytes.TrimPrefix(text[1:], []byte{' '})...)
			if len(bytes.TrimSpace(line)) == 0 {
				line = nil
			}
		case !blank && text[0] != '#' && (indent < 0 || spaces <= indent):
			in.back(line)
			return flush()
		}
		item.line(line, indent+2)
		if item.size() > objectMax {
			return in.fail(start, "an object of more than %d MiB", objectMax>>20)
		}
	}
}

// entry adds one entry. In a list of one kind (PodList) they need none of their
// own.
func (in *input) entry(doc *document, from Origin, raw []byte) error {
	var h listHead
	if json.Unmarshal(raw, &h) == nil && h.Kind == "" {
		head, err := toJSON(doc.trim.text(), from)
		if err != nil || json.Unmarshal(head, &h) != nil || h.Kind == "" {
			return from.Fail("", "", "no apiVersion and kind: want what %s prints", in.tools("kubectl get -o yaml", " get -o yaml"))
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
