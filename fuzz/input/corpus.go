package input

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
)

// corpusHead is the first line of a corpus file.
//
// Source: internal/fuzz/encoding.go (go1.26).
const corpusHead = "go test fuzz v1"

// File returns the input as a corpus file of go test -fuzz: the head, then one line for each argument.
func (in Input) File() []byte {
	return fmt.Appendf(nil, "%s\n[]byte(%q)\n[]byte(%q)\n", corpusHead, in.World, in.Schedule)
}

// FileName returns the name that Go gives to that file: 16 hexadecimal digits.
func (in Input) FileName() string { return fmt.Sprintf("%x", sha256.Sum256(in.File()))[:16] }

// FileMax is the limit of a file in bytes, more than any input needs.
const FileMax = 4 << 20

// ParseFile is the inverse of File. It only accepts the format that Go writes, with two byte strings.
func ParseFile(text []byte) (in Input, err error) {
	err = parseFile(text, "the world and the schedule", &in.World, &in.Schedule)
	return in, err
}

// ParseSchedule parses the file of a target whose only argument is the schedule (ipamsimtest.Fuzz).
func ParseSchedule(text []byte) (schedule []byte, err error) {
	err = parseFile(text, "the schedule", &schedule)
	return schedule, err
}

func parseFile(text []byte, want string, args ...*[]byte) error {
	if len(text) > FileMax {
		return fmt.Errorf("%d bytes, want at most %d", len(text), FileMax)
	}
	lines := bytes.Split(bytes.TrimRight(text, "\r\n"), []byte("\n"))
	if string(bytes.TrimRight(lines[0], "\r")) != corpusHead {
		return fmt.Errorf("line 1: no file of go test -fuzz, want %q", corpusHead)
	}
	if len(lines) != 1+len(args) {
		return fmt.Errorf("%d arguments, want %d: %s", len(lines)-1, len(args), want)
	}
	for i, a := range args {
		var err error
		if *a, err = argument(bytes.TrimRight(lines[1+i], "\r")); err != nil {
			return fmt.Errorf("line %d: %w", 2+i, err)
		}
	}
	return nil
}

// argument parses []byte("...").
func argument(line []byte) ([]byte, error) {
	quoted, ok := bytes.CutPrefix(line, []byte("[]byte("))
	if ok {
		quoted, ok = bytes.CutSuffix(quoted, []byte(")"))
	}
	if !ok || len(quoted) == 0 || quoted[0] != '"' && quoted[0] != '`' {
		return nil, errors.New(`want []byte("...")`)
	}
	text, err := strconv.Unquote(string(quoted))
	if err != nil {
		return nil, errors.New(`want []byte("...") in Go's quotation`)
	}
	return []byte(text), nil
}
