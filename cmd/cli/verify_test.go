package cli

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// fast is a run on the fast store, and what it takes to judge it.
func fast(t *testing.T) (*session, *job, *reports.Report) {
	s, err := managers.All().Load(filepath.Join("testdata", "duplicate.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	runner, err := scenarios.NewRunner()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runner.Close() })
	j := &job{scenario: s, own: true, options: scenarios.Options{Store: scenarios.Memory}}
	rep, err := runner.Run(context.Background(), s, j.options)
	if err != nil {
		t.Fatal(err)
	}
	return &session{work: &work{}, runner: runner}, j, rep
}

// If etcd does not show what the fast store did, that is said, counts as a defect of
// ours (exit 2), and what goes on is etcd's run.
func TestStoresThatDifferAreADefect(t *testing.T) {
	se, j, rep := fast(t)
	rep.StoreDigest = "0123" // as if the fast store had lost something
	var said bytes.Buffer
	se.warn = &said
	judge, err := se.again(context.Background(), j, j.options, rep)
	if err != nil || judge.Store != scenarios.Etcd || se.defects != 1 {
		t.Errorf("%v, on %s, %d defects", err, judge.Store, se.defects)
	}
	if !strings.Contains(said.String(), "duplicate seed 1: the stores differ: in memory, then on etcd (0 and 0 wake-ups from outside): the same schedule led to different stores: 0123, then ") {
		t.Errorf("said: %s", said.String())
	}
}

// A run that something outside woke is done again until the stores agree: what goes on
// is the run that counts, and the last line says how many it took and why.
func TestRepeatsAreReported(t *testing.T) {
	se, j, rep := fast(t)
	rep.StoreDigest, rep.Foreign = "0123", 1 // as if something had woken it
	var said, warned bytes.Buffer
	se.say, se.warn, se.out = &said, &warned, &outputs{}
	judge, err := se.again(context.Background(), j, j.options, rep)
	if err != nil || judge.StoreDigest == "0123" || se.defects != 0 {
		t.Fatalf("%v, %+v, %s", err, judge, warned.String())
	}
	se.repeated.Add(judge.Repeated)
	if err := se.end(nil); err != nil || said.String() != "2 runs repeated: woken from outside\n" {
		t.Errorf("%v, said: %q", err, said.String())
	}
}
