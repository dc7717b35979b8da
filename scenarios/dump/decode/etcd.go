package decode

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
)

// Pair is a key of etcd's with its value, as JSON.
type Pair struct {
	Key   string          `json:"etcdKey"`
	Value json.RawMessage `json:"etcdValue"`
}

// etcdKey is a key of etcd's as etcdctl get prints it: alone on its line, the value on
// the next one.
var etcdKey = regexp.MustCompile(`^/[a-z][a-z0-9.-]*/[^\s"/]+/[^\s"]+$`)

// etcdField is a line of etcdctl get -w fields.
var etcdField = regexp.MustCompile(`^"(Key|Value)" : (".*")$`)

// etcdLine is a line that names a key, or holds a value: of a value the key is "".
func etcdLine(text []byte) (key string, value []byte, ok bool) {
	if etcdKey.Match(text) && !bytes.Contains(text, []byte("/var/lib/")) { // else a file's
		return string(text), nil, true
	}
	m := etcdField.FindSubmatch(text)
	if m == nil {
		return "", nil, false
	}
	s, err := strconv.Unquote(string(m[2]))
	if err != nil {
		return "", nil, false
	}
	if string(m[1]) == "Key" {
		return s, nil, true
	}
	return "", []byte(s), true
}

// kvs reads the pairs of etcdctl get -w json, one by one: key and value are base64.
func (s *stream) kvs() error {
	if _, err := s.dec.Token(); err != nil {
		return s.fail(err)
	}
	for s.dec.More() {
		raw, from, err := s.raw()
		if err != nil {
			return err
		}
		var kv struct{ Key, Value []byte }
		if err := json.Unmarshal(raw, &kv); err != nil {
			return from.Fail("", "kvs", "want a key and a value of etcd's in base64: %s", OneLine(err))
		}
		if err := s.in.pair(from, string(kv.Key), kv.Value); err != nil {
			return err
		}
	}
	return s.closing()
}

// pair takes a key with its value: an object as JSON, or what a manager writes. What is
// in protobuf, as the API server writes its own kinds, is skipped.
func (in *input) pair(from Origin, key string, value []byte) error {
	in.key = ""
	in.sections++
	value = bytes.TrimSpace(value)
	if !beginsJSON(value) || !json.Valid(value) || nested(value) > nestingMax {
		in.skip("")
		return nil
	}
	in.key = key
	err := in.object(from, value, 0)
	in.key = ""
	return err
}
