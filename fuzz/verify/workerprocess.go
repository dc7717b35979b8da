package verify

import (
	"context"
	"errors"
	"fmt"
	"io"

	"ipamsim/fuzz/process"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/por"
)

// ask is a request to a worker process: first the world, then a plan for each run of it.
type ask struct {
	World *world `json:",omitempty"`
	Plan  por.Plan
}

// world is a scenario file.
type world struct {
	File, Text string
	Faults     int
}

// answer is the reply to ask.
type answer struct {
	Log          *por.Log `json:",omitempty"`
	Defect       string   `json:",omitempty"`
	Hung, Stacks string   `json:",omitempty"`
}

// Stuck returns why the run got stuck, for process.Answer.
func (a *answer) Stuck() (cause, stacks string) { return a.Hung, a.Stacks }

// ServeWorker executes the runs that a search requests until its input ends, with its files in dir.
func ServeWorker(ctx context.Context, m scenarios.Managers, in io.Reader, out io.Writer, dir string) error {
	runner, err := scenarios.NewRunnerIn(dir, process.Die)
	if err != nil {
		return err
	}
	var w *scenarios.Scenario
	err = process.Serve(in, out, func(q *ask) process.Answer {
		a := &answer{}
		var err error
		if q.World != nil {
			if w, err = q.World.parse(m); err != nil {
				a.Defect = err.Error()
			}
			return a
		}
		if a.Log, _, err = RunPlan(ctx, runner, w, q.Plan, scenarios.Options{}); err == nil {
			return a
		}
		var stuck *sim.Stuck
		if errors.As(err, &stuck) {
			a.Hung, a.Stacks = stuck.Error(), stuck.Stacks
		}
		a.Defect = err.Error()
		return a
	})
	return errors.Join(err, runner.Close())
}

func (w *world) parse(m scenarios.Managers) (*scenarios.Scenario, error) {
	s, err := m.Parse(w.File, []byte(w.Text))
	if err != nil {
		return nil, err
	}
	return World(s, w.Faults), nil
}

// pool is the worker processes of a search.
type pool struct {
	scratch, command string
	world            *world
	idle             chan *process.Handle // nil: not started yet
}

// newPool returns a pool of n worker processes, started with the program's own command.
func newPool(scratch, command string, w *world, n int) *pool {
	p := &pool{scratch: scratch, command: command, world: w, idle: make(chan *process.Handle, n)}
	for range n {
		p.idle <- nil
	}
	return p
}

// run executes a plan in a worker process. If the process dies, the run is repeated once in another one.
func (p *pool) run(ctx context.Context, plan por.Plan) (*por.Log, error) {
	k := <-p.idle
	defer func() { p.idle <- k }()
	for n := 1; ; n++ {
		var err error
		if k == nil {
			if k, err = p.start(ctx); err != nil {
				return nil, err
			}
		}
		a := &answer{}
		d := k.Ask(ctx, ask{Plan: plan}, a)
		switch {
		case ctx.Err() != nil:
			if d == nil {
				k.Kill()
			}
			k = nil
			return nil, context.Cause(ctx)
		case d != nil:
			k = nil
			if n < 2 {
				continue
			}
			return nil, fmt.Errorf("a run ends its process: %s", d.Cause)
		case a.Defect != "":
			return nil, errors.New(a.Defect)
		}
		return a.Log, nil
	}
}

func (p *pool) start(ctx context.Context) (*process.Handle, error) {
	k, err := process.Start(p.scratch, nil, p.command)
	if err != nil {
		return nil, fmt.Errorf("verify: worker process: %w", err)
	}
	a := &answer{}
	if d := k.Ask(ctx, ask{World: p.world}, a); d != nil {
		return nil, fmt.Errorf("verify: worker process: %s", d.Cause)
	}
	if a.Defect != "" {
		k.Kill()
		return nil, errors.New(a.Defect)
	}
	return k, nil
}

// close ends the worker processes, when no run is active.
func (p *pool) close() {
	for range cap(p.idle) {
		if k := <-p.idle; k != nil {
			k.Kill()
		}
	}
}
