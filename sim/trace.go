package sim

import (
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
	Note   string // what came of it, short: "200 rv=17"
	Detail any    // what the door saw, for reports; not part of the digest
}

// Trace is the record of a run: its steps in order, and every choice made.
type Trace struct {
	Steps []*Step

	picks []int
	last  Decision
}

func (tr *Trace) add() *Step {
	s := &Step{Decision: tr.last}
	tr.Steps = append(tr.Steps, s)
	return s
}

// Schedule is the list of small integers that replays the run: one for every
// decision that had more than one choice.
func (tr *Trace) Schedule() []int { return tr.picks }

// Digest is a hash of every step with its note and of the whole schedule. Equal
// digests mean the same run.
func (tr *Trace) Digest() uint64 {
	h := fnv.New64a()
	_ = tr.Print(h)
	for _, p := range tr.picks {
		_, _ = h.Write([]byte{byte(p), byte(p >> 8)})
	}
	return h.Sum64()
}

// Print writes one line a step.
func (tr *Trace) Print(w io.Writer) error {
	for _, s := range tr.Steps {
		if _, err := io.WriteString(w, s.String()+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// String is one line: number, virtual time in seconds, pick/enabled, outcome,
// actor#n, then the key and the note, each quoted.
//
//	12 1.532000001 2/7 proceed cni-add/web-2/net1#4 "PATCH ippools/10.0.0.0-24" "200 rv=17"
func (s *Step) String() string {
	c := s.Choice
	o := c.Outcome.String()
	if c.Level > 0 {
		o += "." + strconv.Itoa(c.Level)
	}
	return fmt.Sprintf("%d %.9f %d/%d %s %s#%d %q %q", s.Step, s.At.Seconds(), s.Pick, s.Enabled, o, c.Op.Actor, c.Op.Seq, c.Op.Key, s.Note)
}

// ParseStep is the inverse of Step.String, for what the line holds.
func ParseStep(line string) (*Step, error) {
	head, rest, ok := strings.Cut(line, ` "`)
	f := strings.Fields(head)
	if !ok || len(f) != 5 {
		return nil, fmt.Errorf("step %q: want NUMBER SECONDS PICK/ENABLED OUTCOME ACTOR#N \"KEY\" \"NOTE\"", line)
	}
	s := &Step{}
	outcome, level, _ := strings.Cut(f[3], ".")
	o, err := ParseOutcome(outcome)
	if err != nil {
		return nil, fmt.Errorf("step %q: %w", line, err)
	}
	s.Choice.Outcome = o
	if level != "" {
		if s.Choice.Level, err = strconv.Atoi(level); err != nil {
			return nil, fmt.Errorf("step %q: level: %w", line, err)
		}
	}
	at, err := time.ParseDuration(f[1] + "s")
	if err != nil {
		return nil, fmt.Errorf("step %q: time: %w", line, err)
	}
	s.At = at
	if _, err := fmt.Sscanf(f[0]+" "+f[2], "%d %d/%d", &s.Step, &s.Pick, &s.Enabled); err != nil {
		return nil, fmt.Errorf("step %q: %w", line, err)
	}
	i := strings.LastIndexByte(f[4], '#')
	if i < 0 {
		return nil, fmt.Errorf("step %q: want ACTOR#N, have %q", line, f[4])
	}
	s.Choice.Op.Actor = ActorID(f[4][:i])
	if s.Choice.Op.Seq, err = strconv.Atoi(f[4][i+1:]); err != nil {
		return nil, fmt.Errorf("step %q: message number: %w", line, err)
	}
	if _, err := fmt.Sscanf(`"`+rest, "%q %q", &s.Choice.Op.Key, &s.Note); err != nil {
		return nil, fmt.Errorf("step %q: quoted text: %w", line, err)
	}
	return s, nil
}
