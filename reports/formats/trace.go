package formats

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"ipamsim/reports"
	"ipamsim/sim"
)

// traceHead begins the record of a run in a trace file.
const traceHead = "# ipamsim trace"

// Trace writes the schedule log of a run: comment lines that say which run it
// is, then one line for every step. Files of several runs are theirs one after
// another. ParseTrace reads them back.
func Trace(w io.Writer, r *reports.Report) error {
	_, err := fmt.Fprintf(w, "%s\n# scenario: %s\n# upstream: %s\n# seed: %d\n# strategy: %s\n# digest: %s\n",
		traceHead, reports.Clean(r.Scenario), reports.Clean(r.Upstream), r.Seed, reports.Clean(r.Strategy), reports.Clean(r.Digest))
	if err != nil || r.Trace == nil {
		return err
	}
	for _, s := range r.Trace.Steps {
		if _, err := io.WriteString(w, reports.Clean(s.String())+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// Recorded is a run read back from a trace file.
type Recorded struct {
	Scenario, Upstream, Seed, Strategy, Digest string

	Steps []*sim.Step // without Detail
}

// ParseTrace is the inverse of Trace. An error names the line.
func ParseTrace(r io.Reader) ([]Recorded, error) {
	var out []Recorded
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for n := 1; sc.Scan(); n++ {
		line := sc.Text()
		switch {
		case line == traceHead:
			out = append(out, Recorded{})
		case line == "":
		case len(out) == 0:
			return nil, fmt.Errorf("line %d: want %q first", n, traceHead)
		case strings.HasPrefix(line, "#"):
			out[len(out)-1].head(line)
		default:
			s, err := sim.ParseStep(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			rec := &out[len(out)-1]
			rec.Steps = append(rec.Steps, s)
		}
	}
	return out, sc.Err()
}

func (rec *Recorded) head(line string) {
	name, value, _ := strings.Cut(strings.TrimPrefix(line, "# "), ": ")
	switch name {
	case "scenario":
		rec.Scenario = value
	case "upstream":
		rec.Upstream = value
	case "seed":
		rec.Seed = value
	case "strategy":
		rec.Strategy = value
	case "digest":
		rec.Digest = value
	}
}
