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

// live through the points of a shard, as many as there is time for.
func (s *slot) live(ctx context.Context, sh queue.Shard, r *queue.Result) error {
	var body []byte
	for ; r.Done < sh.Runs && r.Refused == "" && queue.Phase(s.phase.Load()) == queue.Exploring; r.Done++ {
		bound := s.term()
		a, err := s.run(bound, ask{Source: sh.Source, Seed: sh.From + r.Done}, r)
		if err != nil {
			return err
		}
		if bound.Err() != nil || a == nil {
			break // this one does not count
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

// gone is a point whose process died of it, again and again. If it was killed from
// outside, memory may be what is missing, and another time there may be more of it:
// that is no answer.
func gone(d *process.Death, r *queue.Result) *answer {
	switch {
	case d.Killed:
		return &answer{Refused: "a point of the plan was " + d.Cause + "; fewer --workers need less of it"}
	case d.Ours:
		r.Defects = append(r.Defects, "ipamsim itself failed: "+d.Cause)
	}
	return refused("the process died of it: " + d.Cause)
}

// refused is a point of which there is no more to say than why.
func refused(why string) *answer {
	text, _ := json.Marshal(plan.Done{Refused: why}) // of words
	return &answer{Point: queue.Squeeze(text)}
}

// livePlan is a plan in a worker process.
type livePlan struct {
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
		frugal()
		c.plan = &livePlan{p, p.Points()}
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

// frugal: the thousands of nodes of a plan may be most of what fits into the memory
// of this machine, once for each of its processors. As long as there is room, the
// heap may grow as the runner says.
func frugal() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heapMax)
	}
}

// heapMax: above it, memory is dearer than time. Two such worker processes and their coordinator
// are below 4 GiB.
const heapMax = 1536 << 20
