package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strconv"
	"strings"
	"time"
)

// Step is one delivered or hurt message.
type Step struct {
	Decision
	Note   string // short result: "200 rv=17"
	Detail any    // recorded by the sender for reports; not part of the digest. A Long one may be shortened
	Stack  Stack  `json:"-"` // of the sender; not part of the digest
}

// Trace is the record of a run: its steps in order, and all choices.
type Trace struct {
	Steps []*Step
	// Exposed: a message of the run could have met a fault, see Budget.Only.
	Exposed bool

	picks   []int
	last    Decision
	details details
}

func (tr *Trace) add() *Step {
	s := &Step{Decision: tr.last}
	tr.Steps = append(tr.Steps, s)
	return s
}

// Schedule is the list of small integers that replays the run: one for every
// decision that had more than one choice.
func (tr *Trace) Schedule() []int { return tr.picks }

// Digest is a hash of what Print writes and of the whole schedule. Equal digests
// mean the same run.
func (tr *Trace) Digest() uint64 {
	h := fnv.New64a()
	_ = tr.Print(h)
	var b []byte
	for _, p := range tr.picks {
		b = binary.AppendUvarint(b, uint64(p))
	}
	_, _ = h.Write(b)
	return h.Sum64()
}

// Print writes one line a step.
func (tr *Trace) Print(w io.Writer) error {
	var b []byte
	for _, s := range tr.Steps {
		b = append(s.append(b[:0]), '\n')
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// String is one line: number, virtual time in seconds, pick/enabled, outcome,
// actor#n, then the key and the note, each quoted.
//
//	12 1.532000001 2/7 proceed cni-add/web-2/net1#4 "PATCH ippools/10.0.0.0-24" "200 rv=17"
func (s *Step) String() string { return string(s.append(nil)) }

// append is String without fmt: digests are taken of every run, and every run is
// repeated.
func (s *Step) append(b []byte) []byte {
	c := s.Choice
	b = append(strconv.AppendInt(b, int64(s.Step), 10), ' ')
	b = append(appendSeconds(b, s.At), ' ')
	b = append(strconv.AppendInt(b, int64(s.Pick), 10), '/')
	b = append(strconv.AppendInt(b, int64(s.Enabled), 10), ' ')
	b = append(b, c.Outcome.String()...)
	if c.Level > 0 {
		b = strconv.AppendInt(append(b, '.'), int64(c.Level), 10)
	}
	b = append(append(append(b, ' '), c.Op.Actor...), '#')
	b = append(strconv.AppendInt(b, int64(c.Op.Seq), 10), ' ')
	b = append(appendQuote(b, c.Op.Key), ' ')
	return appendQuote(b, s.Note)
}

// appendQuote is strconv's, which takes ten times as long over text that needs no
// escapes.
func appendQuote(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return strconv.AppendQuote(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// appendSeconds writes d ≥ 0 in seconds with all its nine decimals.
func appendSeconds(b []byte, d time.Duration) []byte {
	b = append(strconv.AppendInt(b, int64(d/time.Second), 10), '.')
	ns := d % time.Second
	for unit := 100 * time.Millisecond; unit > 0; unit /= 10 {
		b = append(b, '0'+byte(ns/unit%10))
	}
	return b
}

// ParseStep is the inverse of Step.String, for the fields that the line contains.
func ParseStep(line string) (*Step, error) {
	s, err := parseStep(line)
	if err != nil {
		return nil, fmt.Errorf("step %q: %w", line, err)
	}
	return s, nil
}

func parseStep(line string) (*Step, error) {
	head, rest, ok := strings.Cut(line, ` "`)
	f := strings.Fields(head)
	if !ok || len(f) != 5 {
		return nil, errors.New(`want NUMBER SECONDS PICK/ENABLED OUTCOME ACTOR#N "KEY" "NOTE"`)
	}
	s := &Step{}
	var err error
	if s.At, err = time.ParseDuration(f[1] + "s"); err != nil || s.At < 0 {
		return nil, fmt.Errorf("time: want seconds, have %q", f[1])
	}
	pick, enabled, _ := strings.Cut(f[2], "/")
	outcome, level, leveled := strings.Cut(f[3], ".")
	if s.Choice.Outcome, err = ParseOutcome(outcome); err != nil {
		return nil, err
	}
	if !leveled {
		level = "0"
	}
	i := strings.LastIndexByte(f[4], '#')
	if i < 0 {
		return nil, fmt.Errorf("want ACTOR#N, have %q", f[4])
	}
	s.Choice.Op.Actor = ActorID(f[4][:i])
	for _, n := range []struct {
		what, text string
		to         *int
	}{
		{"number", f[0], &s.Step}, {"pick", pick, &s.Pick}, {"enabled", enabled, &s.Enabled},
		{"level", level, &s.Choice.Level}, {"message number", f[4][i+1:], &s.Choice.Op.Seq},
	} {
		if *n.to, err = strconv.Atoi(n.text); err != nil {
			return nil, fmt.Errorf("%s: want a number, have %q", n.what, n.text)
		}
	}
	s.Choice.Op.Key, s.Note, err = twoQuoted(`"` + rest)
	return s, err
}

// twoQuoted reads `"key" "note"` and nothing more.
func twoQuoted(text string) (key, note string, err error) {
	first, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", "", fmt.Errorf("quoted text: %w", err)
	}
	if key, err = strconv.Unquote(first); err != nil {
		return "", "", fmt.Errorf("quoted text: %w", err)
	}
	second, ok := strings.CutPrefix(text[len(first):], " ")
	if note, err = strconv.Unquote(second); err != nil || !ok {
		return "", "", fmt.Errorf("quoted text: want \"KEY\" \"NOTE\", have %s", text)
	}
	return key, note, nil
}
