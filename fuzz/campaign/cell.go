package campaign

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"ipamsim/fuzz/coverage"
	"ipamsim/fuzz/finding"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/hermetic"
)

// ask is a line from a worker to its cell.
type ask struct {
	Spec *Spec `json:",omitempty"` // begin: what is searched
	// Otherwise one run of Source under Seed. With a Signature it is a failure to
	// keep: as it is, or made small first.
	Source    int
	Seed      uint64
	Signature string `json:",omitempty"`
	Shrink    bool   `json:",omitempty"`
}

// answer is the line that comes back.
type answer struct {
	Steps         int
	Unknown       bool   `json:",omitempty"`
	Hits          []hit  `json:",omitempty"`
	States, Pairs packed `json:",omitempty"` // that this cell had not seen
	Defect        string `json:",omitempty"`
	Refused       string `json:",omitempty"` // the source is wrong
	Stuck         string `json:",omitempty"` // the cell must go
	Stacks        string `json:",omitempty"`
	Finding       *finding.Finding
}

// cell is the process in which runs take place, one after another: nothing else
// lives there, because a run may take it along, and because the goroutines of a
// message system beside a bubble are one more thing that no seed decides.
type cell struct {
	runner        *scenarios.Runner
	spec          Spec
	parsed        map[int]*scenarios.Scenario
	states, pairs map[uint64]struct{}
}

// beforeRun is where tests put the blow that kills the process.
var beforeRun = func(source int, seed uint64) {}

// ServeCell answers the questions of a worker until there are no more, keeping
// its etcd in dir. A run that got stuck ends it, too: its bubble cannot be
// unwound.
func ServeCell(ctx context.Context, in io.Reader, out io.Writer, dir string) error {
	runner, err := scenarios.NewRunnerIn(dir)
	if err != nil {
		return err
	}
	c := &cell{runner: runner}
	err = c.serve(ctx, in, out)
	return errors.Join(err, runner.Close())
}

func (c *cell) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	d, w := json.NewDecoder(in), bufio.NewWriter(out)
	e := json.NewEncoder(w)
	for {
		var q ask
		if err := d.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("campaign: cell: %w", err)
		}
		if q.Spec != nil {
			c.spec, c.parsed = *q.Spec, map[int]*scenarios.Scenario{}
			c.states, c.pairs = map[uint64]struct{}{}, map[uint64]struct{}{}
			continue
		}
		a := c.do(ctx, q)
		if err := errors.Join(e.Encode(a), w.Flush()); err != nil || a.Stuck != "" {
			return err
		}
	}
}

func (c *cell) do(ctx context.Context, q ask) *answer {
	a := &answer{}
	sc, err := c.spec.world(q.Source, q.Seed, c.parsed)
	if err != nil {
		return a.broken(c.spec, q, err)
	}
	beforeRun(q.Source, q.Seed)
	rep, err := c.runner.Run(ctx, sc, c.spec.options(q.Source, q.Seed))
	if err != nil {
		return a.broken(c.spec, q, err)
	}
	if hermetic.Enabled && rep.Foreign != 0 {
		a.Defect = fmt.Sprintf("%s seed %d: %d wake-ups from outside the bubble: it may not repeat", rep.Scenario, rep.Seed, rep.Foreign)
	}
	a.Steps, a.Unknown, a.Hits = len(rep.Trace.Steps), rep.Reason != "", hits(rep)
	if q.Signature != "" {
		for _, h := range a.Hits {
			if h.Signature != q.Signature {
				continue
			}
			bound, cancel := context.WithTimeout(ctx, shrinkMax)
			defer cancel()
			if a.Finding, err = small(bound, c.runner, sc, rep, h.violation(rep), h); err != nil {
				a.Defect = err.Error()
			}
			return a
		}
		a.Defect = fmt.Sprintf("%s seed %d did not fail again the same way", rep.Scenario, rep.Seed)
		return a
	}
	states, pairs := coverage.Of(rep)
	a.States, a.Pairs = fresh(c.states, states), fresh(c.pairs, pairs)
	return a
}

// shrinkMax bounds the work on one finding.
const shrinkMax = 20 * time.Second

// fresh is what the set has not seen, and puts it in.
func fresh(set map[uint64]struct{}, seen []uint64) packed {
	var out []uint64
	for _, x := range seen {
		if _, have := set[x]; !have {
			set[x] = struct{}{}
			out = append(out, x)
		}
	}
	return pack(out)
}

// broken is a run that did not end, or that never began.
func (a *answer) broken(s Spec, q ask, err error) *answer {
	var bad *scenarios.Error
	var stuck *sim.Stuck
	switch {
	case errors.As(err, &stuck):
		a.Stuck, a.Stacks = stuck.Error(), stuck.Stacks
	case errors.As(err, &bad) && q.Source >= 0 && s.Sources[q.Source].Space == "":
		a.Refused = bad.Error()
	default:
		a.Defect = fmt.Sprintf("source %d seed %d: %v", q.Source, q.Seed, err)
	}
	return a
}
