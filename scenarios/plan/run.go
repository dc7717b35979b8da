package plan

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/capacity/workload"
	"ipamsim/scenarios"
)

// Run simulates one point. A question that the engine cannot answer is Done.Refused; the error is one
// of the harness, or wraps that of ctx.
//
// Only one point at a time may run in a process.
func (p *Plan) Run(ctx context.Context, r *scenarios.Runner, pt Point) (Done, error) {
	done := Done{Point: pt}
	if pt.Cell < 0 || pt.Cell >= len(p.Cells) {
		return done, fmt.Errorf("plan %s: no cell %d", p.Name(), pt.Cell)
	}
	c, err := p.cluster(ctx, r, pt.Cell)
	if err != nil {
		return done, err
	}
	switch pt.Engine {
	case Reference:
		done.Course, err = play(ctx, c, pt.Seed)
	case Real:
		done.Course, done.Refused, err = p.real(ctx, r, c, pt)
	default:
		return done, fmt.Errorf("plan %s: no engine %q", p.Name(), pt.Engine)
	}
	if errors.Is(err, capacity.ErrNotModelled) {
		done.Course, done.Refused, err = nil, err.Error(), nil
	}
	return done, err
}

// cluster is the cell's, with what there is at the beginning.
func (p *Plan) cluster(ctx context.Context, r *scenarios.Runner, cell int) (*capacity.Cluster, error) {
	c := p.Cells[cell].Cluster
	c.Apart = p.apart()
	if err := p.begin(ctx, r); err != nil {
		return nil, err
	}
	c.Record, c.Pods = p.start.record, p.start.pods
	return &c, nil
}

// play is Play, which ends early if the context does.
func play(ctx context.Context, c *capacity.Cluster, seed uint64) (*capacity.Course, error) {
	t := c.Trace(seed)
	player, err := capacity.NewPlayer(c, t)
	if err != nil {
		return nil, err
	}
	n := 0
	for e := range t.Events() {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := player.Do(e); err != nil {
			return nil, err
		}
	}
	return player.Course(), nil
}

// start is what there is at the beginning of every point.
type start struct {
	once sync.Once
	beginning
	err error
}

// beginning is what was there before: nothing, but of a cluster that was imported.
type beginning struct {
	record *model.Snapshot
	pods   []workload.Resident
}

// begin looks at what the plan's scenario begins with, once a process.
func (p *Plan) begin(ctx context.Context, r *scenarios.Runner) error {
	p.start.once.Do(func() { p.start.beginning, p.start.err = p.found(ctx, r) })
	return p.start.err
}

func (p *Plan) found(ctx context.Context, r *scenarios.Runner) (b beginning, err error) {
	if !p.begins() {
		return b, nil
	}
	v, err := r.Inspect(ctx, p.base)
	if err != nil {
		return b, fmt.Errorf("plan %s: %w", p.Name(), err)
	}
	b.record = &v.Record
	for i := range v.Truth.Sandboxes {
		s := &v.Truth.Sandboxes[i]
		if s.Pod.Namespace == "" {
			continue // a node's own device
		}
		x := workload.Resident{Ref: s.Pod, Node: s.Node, Container: s.ID}
		for _, a := range s.Attachments {
			x.Addrs = append(x.Addrs, a.Addrs...)
		}
		if len(x.Addrs) > 0 {
			b.pods = append(b.pods, x)
		}
	}
	return b, nil
}
