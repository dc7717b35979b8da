package index

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/reports"
)

// What is read may come from anybody: its size is bounded, and a link leads to where
// its own files lie and nowhere else.
const (
	findingsBytesMax = 64 << 20
	lineBytesMax     = 64 << 20 // one run, with all its metrics
)

// ReadFindings reads a campaign's findings.json. The files of its findings lie in
// dir, a relative URL as seen from the page.
//
// An error says what is wrong, and where.
func ReadFindings(r io.Reader, dir string) (*Index, error) {
	text, err := io.ReadAll(io.LimitReader(r, findingsBytesMax+1))
	if err != nil {
		return nil, err
	}
	if len(text) > findingsBytesMax {
		return nil, fmt.Errorf("want at most %d MiB, have more", findingsBytesMax>>20)
	}
	var all []Finding
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, notJSON(err)
	}
	for i := range all {
		if err := all[i].check(); err != nil {
			return nil, fmt.Errorf("finding %d: %w", i+1, err)
		}
	}
	c := &Campaign{Findings: all}
	return &Index{
		Title: "Findings", Facts: []Fact{{"findings", c.found()}}, Tables: []*Table{findings(all, dir)},
		Lead: "Each is one cause of failure of the real code in a simulated cluster, shrunk; its file replays on its own.",
	}, nil
}

var (
	fingerprint = regexp.MustCompile(`^[0-9a-f]{12}$`)
	beside      = regexp.MustCompile(`^[0-9a-f]{12}(\.history)?\.(html|md|yaml)$`)
)

// check a finding from a file.
func (f *Finding) check() error {
	if !fingerprint.MatchString(f.Fingerprint) {
		return fmt.Errorf("fingerprint: want 12 hexadecimal digits, have %q", f.Fingerprint)
	}
	for _, l := range []struct {
		field, name string
	}{{"file", f.File}, {"history", f.History}, {"page", f.Page}} {
		if l.name != "" && !beside.MatchString(l.name) {
			return fmt.Errorf("%s: want the name of a file beside this one, FINGERPRINT.yaml or .html, have %q", l.field, l.name)
		}
	}
	return nil
}

// line is what is used of a run as ipamsim run --json writes it.
type line struct {
	Scenario       string          `json:"scenario"`
	Title          string          `json:"title"`
	Upstream       string          `json:"upstream"`
	Seed           uint64          `json:"seed"`
	Strategy       string          `json:"strategy"`
	Store          string          `json:"store"`
	Verdict        reports.Verdict `json:"verdict"`
	Steps          int             `json:"steps"`
	VirtualSeconds float64         `json:"virtualSeconds"`
	WallSeconds    float64         `json:"wallSeconds"`
	APICalls       int             `json:"apiCalls"`
	Violations     []struct {
		Invariant string         `json:"invariant"`
		Severity  model.Severity `json:"severity"`
		Message   string         `json:"message"`
	} `json:"violations"`
	Expected  bool   `json:"expected"`
	Reason    string `json:"reason"`
	Datastore string `json:"datastore"`
	Command   string `json:"command"`
}

// ReadRuns reads the lines of ipamsim run --json.
//
// An error says what is wrong, and on which line.
func ReadRuns(r io.Reader) (*Library, error) {
	l := &Library{}
	s := bufio.NewScanner(r)
	s.Buffer(nil, lineBytesMax)
	n := 0
	for s.Scan() {
		n++
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		var x line
		if err := json.Unmarshal(s.Bytes(), &x); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, notJSON(err))
		}
		run, err := x.run()
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		l.Add(run)
	}
	if err := s.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d: want at most %d MiB, have more", n+1, lineBytesMax>>20)
	} else if err != nil {
		return nil, err
	}
	if l.runs == 0 {
		return nil, errors.New("no run in it")
	}
	return l, nil
}

// gravity of a violation: the gravest is the first of the highest.
var gravity = []model.Severity{model.Minor, model.Major, model.Critical}

func (x *line) run() (Run, error) {
	if x.Scenario == "" {
		return Run{}, errors.New("scenario: missing; want a line that ipamsim run --json wrote")
	}
	if !slices.Contains([]reports.Verdict{reports.Pass, reports.Fail, reports.Unknown}, x.Verdict) {
		return Run{}, fmt.Errorf("verdict: want pass, fail or unknown, have %q", x.Verdict)
	}
	if x.Steps < 0 || x.APICalls < 0 || !(x.VirtualSeconds >= 0 && x.VirtualSeconds < 1e9) || !(x.WallSeconds >= 0 && x.WallSeconds < 1e9) {
		return Run{}, errors.New("steps, apiCalls, virtualSeconds, wallSeconds: want none below 0, and less than 1,000,000,000 seconds")
	}
	out := Run{
		Scenario: x.Scenario, Title: x.Title, Upstream: x.Upstream, Datastore: x.Datastore, Strategy: x.Strategy, Store: x.Store, Seed: x.Seed,
		Verdict: x.Verdict, Reason: x.Reason, AsExpected: x.Expected, Violations: len(x.Violations), Steps: x.Steps, Calls: x.APICalls,
		Virtual: time.Duration(x.VirtualSeconds * float64(time.Second)), Wall: time.Duration(x.WallSeconds * float64(time.Second)), Command: x.Command,
	}
	for _, v := range x.Violations {
		out.Violated = append(out.Violated, v.Invariant)
		if out.Gravest == nil || slices.Index(gravity, v.Severity) > slices.Index(gravity, out.Gravest.Severity) {
			out.Gravest = &model.Violation{Invariant: v.Invariant, Severity: v.Severity, Message: v.Message}
		}
	}
	out.Violated = sorted(out.Violated)
	return out, nil
}

// notJSON is an error of package json in words for people.
func notJSON(err error) error {
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("%s: want %s, have %s", wrong.Field, wrong.Type, wrong.Value)
	case errors.As(err, &syntax):
		return fmt.Errorf("no JSON: at byte %d: %w", syntax.Offset, err)
	}
	return err
}
