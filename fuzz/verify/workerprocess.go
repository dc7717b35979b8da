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

// pool is the worker processes of a search. A run that waits takes a place out of it.
type pool chan *process.Place

// newPool returns a pool of n worker processes, started with the program's own command.
func newPool(ctx context.Context, scratch, command string, w *world, n int) pool {
	p := make(pool, n)
	for range n {
		p <- &process.Place{Start: func() (*process.Handle, error) { return start(ctx, scratch, command, w) }}
	}
	return p
}

// run executes a plan in a worker process. If the process dies, the run is repeated in another one.
func (p pool) run(ctx context.Context, plan por.Plan) (*por.Log, error) {
	place := <-p
	defer func() { p <- place }()
	var a *answer
	question := func() (any, process.Answer) {
		a = &answer{}
		return ask{Plan: plan}, a
	}
	_, last, err := place.Ask(ctx, question, func(*process.Death) {})
	switch {
	case ctx.Err() != nil:
		place.Clear()
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case last != nil:
		return nil, fmt.Errorf("a run ends its process: %s", last.Cause)
	case a.Defect != "":
		return nil, errors.New(a.Defect)
	}
	return a.Log, nil
}

// start starts a worker process and sends it the scenario.
func start(ctx context.Context, scratch, command string, w *world) (*process.Handle, error) {
	k, err := process.Start(scratch, nil, command)
	if err != nil {
		return nil, fmt.Errorf("verify: worker process: %w", err)
	}
	a := &answer{}
	if d := k.Ask(ctx, ask{World: w}, a); d != nil {
		return nil, fmt.Errorf("verify: worker process: %s", d.Cause)
	}
	if a.Defect != "" {
		k.Kill()
		return nil, errors.New(a.Defect)
	}
	return k, nil
}

// close ends the worker processes, when no run is active.
func (p pool) close() {
	for range cap(p) {
		(<-p).Clear()
	}
}
