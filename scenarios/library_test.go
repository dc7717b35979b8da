package scenarios_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
	"ipamsim/fuzz/process"
	"ipamsim/reports/formats"
	"ipamsim/reports/golden"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/longtest"
	"ipamsim/sim/scratch"
)

// TestMain lets this binary be the worker processes of TestLibrary. Their number is that
// of the machine's processors, however many a test binary may use.
func TestMain(m *testing.M) {
	if os.Args[0] != "ipamsim" {
		flag.Parse()
		_ = flag.Set("test.parallel", strconv.Itoa(runtime.NumCPU()))
		os.Exit(m.Run())
	}
	err := process.Run(os.Args[2], func() { os.Exit(0) }, func(in io.Reader, out io.Writer) error {
		return serveLibrary(in, out, os.Args[2])
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// TestLibrary is the one pass over the library: it runs every scenario with its own seed,
// strategy and controllers and checks all that is recorded about the run: the golden
// beside the file, what the scenario expects, and that a list of known causes
// (fuzz/testdata/known) has the cause of each violation.
//
// It runs on the store in memory. Every fourth run that is not long, with make test-long
// each, is then replayed on etcd from its schedule, a list of small integers, in another
// process with another number of processors: the digests must be equal. The gate, too, does
// the run of each scenario's own seed twice, in two processes.
func TestLibrary(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("SKIPPED: the goldens are those of the hermetic build; run make test")
	}
	p := newPass(t)
	files := library(t)
	slices.SortStableFunc(files, func(a, b string) int { return stepsIn(b) - stepsIn(a) })
	for i, file := range files {
		again := !long(file) && (i%4 == 0 || longtest.On())
		t.Run(strings.TrimSuffix(file, ".yaml"), func(t *testing.T) {
			t.Parallel()
			p.check(t, file, again)
		})
	}
}

// pass holds the worker processes that are free: those with one processor, and those
// with four.
type pass [2]chan *process.Place

func newPass(t *testing.T) *pass {
	t.Helper()
	room, err := scratch.New("library")
	if err != nil {
		t.Fatal(err)
	}
	p, each := &pass{}, max(1, runtime.NumCPU()/len(pass{}))
	for i, procs := range []string{"1", "4"} {
		p[i] = make(chan *process.Place, each)
		for range each {
			p[i] <- &process.Place{Start: func() (*process.Handle, error) {
				return process.Start(room.Path, append(os.Environ(), "GOMAXPROCS="+procs), "library-process")
			}}
		}
	}
	t.Cleanup(func() {
		for _, free := range p {
			for range each {
				(<-free).Clear()
			}
		}
		if err := room.Remove(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// check runs a scenario, and if it is to be run again replays it in another process.
func (p *pass) check(t *testing.T, file string, again bool) {
	first, by := p.ask(t, libraryAsk{File: file}, p[0], p[1])
	if first.Wrong != "" {
		t.Error(first.Wrong)
	}
	for _, signature := range first.Unknown {
		t.Errorf("no list knows %s: go test ./fuzz -run LibraryIsKnown -update", signature)
	}
	golden.Check(t, strings.TrimSuffix(file, ".yaml")+".golden", first.Golden)
	if !again {
		return
	}
	other := p[0]
	if by == other {
		other = p[1]
	}
	second, _ := p.ask(t, libraryAsk{File: file, Schedule: first.Schedule, Replay: true}, other, other)
	if second.Digest != first.Digest || second.Store != first.Store {
		t.Errorf("the replay on etcd, in another process, differs: digest %s and %s, store %s and %s", first.Digest, second.Digest, first.Store, second.Store)
	}
}

// ask has the first worker that is free in a or b do a run, and returns where it was.
func (p *pass) ask(t *testing.T, q libraryAsk, a, b chan *process.Place) (*libraryAnswer, chan *process.Place) {
	t.Helper()
	var place *process.Place
	by := a
	select {
	case place = <-a:
	case place = <-b:
		by = b
	}
	defer func() { by <- place }()
	var answer *libraryAnswer
	question := func() (any, process.Answer) {
		answer = &libraryAnswer{}
		return q, answer
	}
	_, last, err := place.Ask(t.Context(), question, func(d *process.Death) { t.Errorf("its process died: %s", d.Cause) })
	switch {
	case err != nil:
		t.Fatal(err)
	case last != nil:
		t.Fatalf("its process died again: %s", last.Cause)
	case answer.Error != "":
		t.Fatal(answer.Error)
	}
	return answer, by
}

// libraryAsk is one run to do.
type libraryAsk struct {
	File     string
	Replay   bool
	Schedule []int // of a replay
}

// libraryAnswer is what the run gave. Golden and what follows are empty for a replay.
type libraryAnswer struct {
	Error         string // it could not be run
	Digest, Store string
	Golden        string
	Schedule      []int
	Wrong         string   // how it differs from what the scenario expects, "" if it does not
	Unknown       []string // causes of violations that no list has

	Hung, Stacks string
}

// Stuck reports a run that made no progress.
func (a *libraryAnswer) Stuck() (cause, stacks string) { return a.Hung, a.Stacks }

func serveLibrary(in io.Reader, out io.Writer, dir string) error {
	r, err := scenarios.NewRunnerIn(dir, process.Die)
	if err != nil {
		return err
	}
	causes, err := known.Load("../fuzz/testdata/known", input.Lists(managers.All(), "")...)
	if err != nil {
		return err
	}
	err = process.Serve(in, out, func(q *libraryAsk) process.Answer { return libraryRun(r, causes, q) })
	return errors.Join(err, r.Close())
}

func libraryRun(r *scenarios.Runner, causes known.Causes, q *libraryAsk) *libraryAnswer {
	s, err := managers.All().Load(q.File)
	if err != nil {
		return &libraryAnswer{Error: err.Error()}
	}
	s.File = "scenarios/" + q.File // as a reader of the golden would type it
	o := scenarios.Options{Store: scenarios.Memory}
	if seed := s.Seed(); q.Replay {
		o = scenarios.Options{Seed: &seed, Schedule: q.Schedule, Store: scenarios.Etcd}
	}
	rep, err := r.Run(context.Background(), s, o)
	var stuck *sim.Stuck
	switch {
	case errors.As(err, &stuck):
		return &libraryAnswer{Hung: stuck.Error(), Stacks: stuck.Stacks}
	case err != nil:
		return &libraryAnswer{Error: err.Error()}
	case rep.Foreign != 0:
		return &libraryAnswer{Error: fmt.Sprintf("%d wake-ups from outside the bubble", rep.Foreign)}
	case q.Replay:
		return &libraryAnswer{Digest: rep.Digest, Store: rep.StoreDigest}
	}
	a := &libraryAnswer{Digest: rep.Digest, Store: rep.StoreDigest, Golden: formats.Golden(rep), Schedule: rep.Trace.Schedule()}
	if !rep.AsExpected() {
		a.Wrong = fmt.Sprintf("not as the scenario expects: unexpected %v, missing %v, verdict %s %s", rep.Unexpected(), rep.Missing(), rep.Verdict, rep.Reason)
	}
	for i := range rep.Violations {
		c := cause.Of(rep, &rep.Violations[i])
		if causes.Find(c) == "" && !slices.Contains(a.Unknown, c.Signature()) {
			a.Unknown = append(a.Unknown, c.Signature())
		}
	}
	return a
}
