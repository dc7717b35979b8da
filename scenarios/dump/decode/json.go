package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"ipamsim/scenarios/strict"
)

// listHead is the metadata of a list.
type listHead struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		ResourceVersion string `json:"resourceVersion"`
		Namespace       string `json:"namespace"`
		Continue        string `json:"continue"`
		Remaining       int64  `json:"remainingItemCount"`
	} `json:"metadata"`
}

// saw remembers the kind of an object.
func (in *input) saw(h listHead) {
	k := List{APIVersion: h.APIVersion, Kind: h.Kind}
	if n := len(in.kinds); n > 0 && in.kinds[n-1].Kind == k.Kind && in.kinds[n-1].APIVersion == k.APIVersion {
		return
	}
	same := func(o List) bool { return o.APIVersion == k.APIVersion && o.Kind == k.Kind }
	if i := slices.IndexFunc(in.kinds, same); i >= 0 { // the last one is that of the last object
		k, in.kinds = in.kinds[i], slices.Delete(in.kinds, i, i+1)
	}
	in.kinds = append(in.kinds, k)
}

// deferred are the entries of a list whose kind stands behind them.
type deferred struct {
	raw  []json.RawMessage
	from []Origin
	size int
}

// deferredMax is how much of a list is kept until its kind is known. Of a pod 2 KiB are
// left when what says nothing about addresses is dropped.
const deferredMax = 96 << 20

func (d *deferred) add(from Origin, raw json.RawMessage) error {
	if d.size += len(raw); d.size > deferredMax {
		return from.Fail("", "", "a list of more than %d MiB without its kind before its entries", deferredMax>>20)
	}
	d.raw, d.from = append(d.raw, raw), append(d.from, from)
	return nil
}

// flush hands the entries over, with the kind of their list.
func (d *deferred) flush(in *input, h listHead) error {
	for i, raw := range d.raw {
		if err := in.object(d.from[i], withKind(raw, h), 1); err != nil {
			return err
		}
	}
	*d = deferred{}
	return nil
}

// budget is a reader that ends with errBudget once too much was read since it was
// last filled. It knows where lines end.
type budget struct {
	r     io.Reader
	left  int
	read  int64
	ends  []int64 // offsets of ends of lines behind the last one that was asked for
	lines int     // ends of lines before those
}

var errBudget = errors.New("too large")

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errBudget
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	for i, c := range p[:n] {
		if c == '\n' {
			b.ends = append(b.ends, b.read+int64(i))
		}
	}
	b.left -= n
	b.read += int64(n)
	return n, err
}

// line is how many lines end before an offset, which never goes back.
func (b *budget) line(offset int64) int {
	i, _ := slices.BinarySearch(b.ends, offset)
	b.lines += i
	b.ends = slices.Delete(b.ends, 0, i)
	return b.lines
}

// json reads JSON values one after the other: objects, lists of kubectl's, arrays
// of objects. All of it may be one line. line is what was read of it already.
func (in *input) json(line []byte) error {
	from := in.line + 1
	if line != nil {
		from--
	}
	b := &budget{left: objectMax, r: &remaining{in, line}}
	s := &stream{in: in, b: b, dec: json.NewDecoder(b), first: from}
	var err error
	for more := true; more && err == nil; {
		if err = s.value(); err == nil {
			more = s.more()
		}
	}
	// What was read too far belongs to the next section.
	ahead, _ := io.ReadAll(s.dec.Buffered())
	in.resync = err != nil
	if len(in.wraps) > 0 {
		if ahead = bytes.TrimSpace(ahead); len(ahead) > 0 && err == nil {
			in.back(ahead)
		}
		return err
	}
	in.line = s.first + b.line(s.dec.InputOffset()) - 1
	if after := bytes.TrimLeft(ahead, " \t\r"); len(after) > 0 && after[0] == '\n' {
		ahead = after[1:]
		in.line++
	}
	in.bytes -= int64(len(ahead))
	in.head = append(ahead, in.head...)
	return err
}

// remaining is what has not been read of the file: first, then what is in head, then the
// rest. Of a paste it is read line by line.
type remaining struct {
	in    *input
	first []byte
}

func (r *remaining) Read(p []byte) (int, error) {
	if len(r.first) == 0 && len(r.in.wraps) > 0 {
		line, err := r.in.next()
		if isEnd(err) {
			return 0, io.EOF
		}
		if err != nil {
			return 0, err
		}
		r.first = append(bytes.Clone(line), '\n')
	}
	if len(r.first) > 0 {
		n := copy(p, r.first)
		r.first = r.first[n:]
		return n, nil
	}
	n, err := copy(p, r.in.head), error(nil)
	if r.in.head = r.in.head[n:]; n == 0 {
		n, err = r.in.r.Read(p)
	}
	r.in.bytes += int64(n)
	if r.in.bytes-r.in.reported > reportEvery {
		r.in.report()
	}
	return n, err
}

// stream is JSON that is read item by item.
type stream struct {
	in    *input
	b     *budget
	dec   *json.Decoder
	first int // the line in which it begins
	late  deferred
}

// from is the line of what begins at an offset.
func (s *stream) from(offset int64) Origin {
	return Origin{s.in.name, s.first + s.b.line(offset)}
}

// more reports whether another JSON value follows.
func (s *stream) more() bool {
	s.b.left = objectMax
	if !s.dec.More() {
		return false
	}
	next := make([]byte, peekMax)
	n, _ := s.dec.Buffered().Read(next)
	return beginsJSON(bytes.TrimSpace(next[:n]))
}

func (s *stream) fail(err error) error {
	var bad *strict.Error
	offset := s.dec.InputOffset()
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		offset = max(offset, syntax.Offset)
	}
	at := s.from(offset)
	switch {
	case errors.As(err, &bad):
		return err
	case errors.Is(err, errBudget):
		s.in.fatal = true
		return at.Fail("", "", "an object of more than %d MiB", objectMax>>20)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return s.in.fail(s.first, "the JSON that begins here ends in the middle: the file is cut off, dump it again")
	}
	return at.Fail("", "", "not JSON: %s", OneLine(err))
}

// raw is the next value as it stands, and where.
func (s *stream) raw() (json.RawMessage, Origin, error) {
	s.b.left = objectMax
	var out json.RawMessage
	if err := s.dec.Decode(&out); err != nil {
		return nil, Origin{}, s.fail(err)
	}
	from := s.from(s.dec.InputOffset() - int64(len(out)))
	if nested(out) > nestingMax {
		return nil, from, from.Fail("", "", "nested more than %d levels deep", nestingMax)
	}
	return out, from, nil
}

// value reads one value.
func (s *stream) value() error {
	t, err := s.dec.Token()
	if err != nil {
		return s.fail(err)
	}
	from := s.from(s.dec.InputOffset() - 1)
	if t == json.Delim('[') {
		s.in.begins()
		s.in.of = nil
		if err := s.array(nil); err != nil {
			return err
		}
		s.in.reset() // none of kubectl's lists
		s.in.whole++
		return s.closing()
	}
	fields, list, pairs := map[string]json.RawMessage{}, false, false
	for s.dec.More() {
		t, err := s.dec.Token()
		if err != nil {
			return s.fail(err)
		}
		name, _ := t.(string)
		_, twice := fields[name]
		switch {
		case twice || list && name == "items":
			return from.Fail("", "", "%s occurs twice", strict.Quote(name))
		case name == "items":
			list = true
			s.in.begins()
			err = s.items(fields)
		case name == "kvs":
			fields[name] = json.RawMessage("null")
			pairs, err = true, s.kvs()
		default:
			fields[name], _, err = s.raw()
		}
		if err != nil {
			return err
		}
	}
	if err := s.closing(); err != nil {
		return err
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return s.fail(err)
	}
	if pairs {
		s.in.whole++
		return nil
	}
	if !list {
		return s.in.object(from, raw, 0)
	}
	var h listHead
	if err := json.Unmarshal(raw, &h); err != nil {
		return from.Fail("", "", "%s", OneLine(err))
	}
	if err := s.late.flush(s.in, h); err != nil {
		return err
	}
	s.in.ended(from, h)
	return nil
}

func (s *stream) closing() error {
	if _, err := s.dec.Token(); err != nil {
		return s.fail(err)
	}
	return nil
}

// items reads the list of a List; null is an empty one of Go's.
func (s *stream) items(around map[string]json.RawMessage) error {
	t, err := s.dec.Token()
	switch {
	case err != nil:
		return s.fail(err)
	case t == nil:
		return nil
	case t != json.Delim('['):
		return s.from(s.dec.InputOffset()).Fail("", "items", "want a list")
	}
	if err := s.array(around); err != nil {
		return err
	}
	return s.closing()
}

func (s *stream) array(around map[string]json.RawMessage) error {
	for s.dec.More() {
		raw, from, err := s.raw()
		if err != nil {
			return err
		}
		var h listHead
		if json.Unmarshal(raw, &h) == nil && h.Kind == "" && around != nil {
			head, _ := json.Marshal(around)
			if json.Unmarshal(head, &h) == nil && h.Kind != "" {
				raw = withKind(raw, h)
			} else {
				if err := s.late.add(from, raw); err != nil {
					return err
				}
				continue
			}
		}
		if err := s.in.object(from, raw, 1); err != nil {
			return err
		}
	}
	return nil
}

// withKind gives an entry of a PodList the kind Pod.
func withKind(raw []byte, list listHead) []byte {
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil || o == nil {
		return raw
	}
	o["kind"], _ = json.Marshal(trimList(list.Kind))
	o["apiVersion"], _ = json.Marshal(list.APIVersion)
	out, err := json.Marshal(o)
	if err != nil {
		return raw
	}
	return out
}

func trimList(kind string) string { return strings.TrimSuffix(kind, "List") }

// nested is how deep brackets are nested outside of strings.
func nested(raw []byte) int {
	most, now, inside := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch b := raw[i]; {
		case inside && b == '\\':
			i++
		case b == '"':
			inside = !inside
		case inside:
		case b == '{' || b == '[':
			now++
			most = max(most, now)
		case b == '}' || b == ']':
			now--
		}
	}
	return most
}

// object adds one object, or those of a list within a list.
func (in *input) object(from Origin, raw []byte, level int) error {
	var o struct {
		listHead
		Items *[]json.RawMessage `json:"items"`
	}
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return nil
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return from.Fail("", "", "want an object with apiVersion and kind: %s", OneLine(err))
	}
	if level == 0 {
		in.begins()
	}
	if o.Kind == "" {
		var v any = json.RawMessage(raw)
		if in.key != "" {
			v = Pair{in.key, raw}
		}
		in.key = ""
		if ok, err := in.document(from, v); ok || err != nil {
			in.typedWords = nil
			return err
		}
	}
	in.key = ""
	switch {
	case o.Items == nil || o.Kind == "":
		in.saw(o.listHead)
		in.counted(level, o.listHead)
		err := in.add(from, raw)
		if level == 0 {
			in.whole++
			in.reset()
		}
		return err
	case level > 2:
		return from.Fail("", "", "lists in lists in lists")
	}
	for _, item := range *o.Items {
		var h listHead
		if json.Unmarshal(item, &h) == nil && h.Kind == "" {
			item = withKind(item, o.listHead)
		}
		if err := in.object(from, item, level+1); err != nil {
			return err
		}
	}
	if level == 0 {
		in.ended(from, o.listHead)
	} else {
		in.within(from, o.listHead)
	}
	return nil
}
