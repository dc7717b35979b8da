package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/process"
	"ipamsim/scenarios/plan"
	"ipamsim/sim"
)

// runPoints runs the points of a shard until the time is up.
func (s *slot) runPoints(ctx context.Context, sh queue.Shard, r *queue.Result) error {
	var body []byte
	for ; r.Done < sh.Runs && r.Refused == "" && queue.Phase(s.phase.Load()) == queue.Exploring; r.Done++ {
		bound := s.term()
		a, err := s.run(bound, ask{Source: sh.Source, Seed: sh.From + r.Done}, r)
		if err != nil {
			return err
		}
		if bound.Err() != nil || a == nil {
			break // this point does not count
		}
		if r.Refused = a.Refused; a.Refused != "" {
			break
		}
		if a.Defect != "" {
			r.Defects = append(r.Defects, a.Defect)
		}
		body = append(body, a.Point...)
	}
	var err error
	r.Points, err = s.Bundle(ctx, sh.Key(), body)
	return err
}

// pointDied returns the answer for a point whose process died repeatedly. If the process was killed
// from outside, the memory may have been exhausted. That is no result of the point: it may
// succeed with more memory.
func pointDied(d *process.Death, r *queue.Result) *answer {
	switch {
	case d.Killed:
		return &answer{Refused: "a point of the plan was " + d.Cause + "; fewer --workers need less memory"}
	case d.Ours:
		r.Defects = append(r.Defects, "ipamsim itself failed: "+d.Cause)
	}
	return refused("the process died: " + d.Cause)
}

// refused returns the answer for a point that has no result but the reason.
func refused(why string) *answer {
	text, _ := json.Marshal(plan.Done{Refused: why}) // a string always marshals
	return &answer{Point: queue.Squeeze(text)}
}

// parsedPlan is the plan in a worker process.
type parsedPlan struct {
	*plan.Plan
	points []plan.Point
}

// point simulates one point of the plan.
func (c *served) point(ctx context.Context, q ask) *answer {
	if c.plan == nil {
		src := c.spec.Sources[0]
		p, err := plan.Parse(c.managers, src.File, []byte(src.Text), nil)
		if err != nil {
			return &answer{Refused: err.Error()}
		}
		limitMemory()
		c.plan = &parsedPlan{p, p.Points()}
	}
	if q.Seed >= uint64(len(c.plan.points)) {
		return &answer{Refused: fmt.Sprintf("there is no point %d", q.Seed)}
	}
	BeforeRun(q.Source, q.Seed)
	done, err := c.plan.Run(ctx, c.runner, c.plan.points[q.Seed])
	var stuck *sim.Stuck
	if errors.As(err, &stuck) {
		return &answer{Hung: stuck.Error(), Stacks: stuck.Stacks}
	}
	var text []byte
	if err == nil {
		text, err = json.Marshal(done)
	}
	if err != nil {
		a := refused(err.Error())
		a.Defect = fmt.Sprintf("point %d: %v", q.Seed, err)
		return a
	}
	return &answer{Point: queue.Squeeze(text)}
}

// limitMemory sets a limit for the heap, unless the user has set one. A plan with thousands of
// nodes may take most of the machine's memory, once for each of its processors. Below the
// limit the heap may grow as the runner configures it.
func limitMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heapMax)
	}
}

// heapMax is the heap size above which the garbage collector saves memory instead of time. Two
// such worker processes and their coordinator take less than 4 GiB.
const heapMax = 1536 << 20
