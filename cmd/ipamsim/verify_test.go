package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"ipamsim/scenarios"
)

// If etcd does not show what the fast store did, that is said, counts as a defect of
// ours (exit 2), and what goes on is etcd's run.
func TestStoresThatDifferAreADefect(t *testing.T) {
	s, err := scenarios.Load(filepath.Join("testdata", "duplicate.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	runner, err := scenarios.NewRunner()
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	j := &job{scenario: s, own: true, options: scenarios.Options{Store: scenarios.Memory}}
	rep, err := runner.Run(context.Background(), s, j.options)
	if err != nil {
		t.Fatal(err)
	}
	rep.StoreDigest = "0123" // as if the fast store had lost something
	var said bytes.Buffer
	se := &session{work: &work{}, runner: runner, warn: &said}
	judge, err := se.again(context.Background(), j, j.options, rep)
	if err != nil || judge.Store != scenarios.Etcd || se.defects != 1 {
		t.Errorf("%v, on %s, %d defects", err, judge.Store, se.defects)
	}
	if !strings.Contains(said.String(), "duplicate seed 1: the stores differ: in memory, then on etcd (0 and 0 wake-ups from outside): the same schedule left another store: 0123, then ") {
		t.Errorf("said: %s", said.String())
	}
}
