package fuzz_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ipamsim/reports"
)

// tally counts inputs by result.
type tally struct {
	Began, Ended time.Time      // of the first and the last input
	Inputs       int            // calls by Go's fuzzer
	Refused      int            // inputs that are no world
	Cut          int            // runs that a limit cut short
	Known        map[string]int // known failures, by class
	Repeated     reports.Repeated
}

// done is the tally of this process.
var done = tally{Known: map[string]int{}}

// count counts an input, and writes the tally for the coordinator, because a worker process is
// killed at its end.
func count(what func(*tally)) error {
	if done.Inputs == 0 {
		done.Began = time.Now()
	}
	done.Inputs++
	done.Ended = time.Now()
	what(&done)
	dir := os.Getenv(scratchEnv)
	if dir == "" {
		return nil
	}
	text, err := json.Marshal(done)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, fmt.Sprint(os.Getpid()))
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file+".tally")
}

// sumTallies adds the tallies of all processes.
func sumTallies() (tally, error) {
	sum := tally{Known: map[string]int{}}
	files, err := filepath.Glob(filepath.Join(os.Getenv(scratchEnv), "*.tally"))
	for _, f := range files {
		text, e := os.ReadFile(f)
		var t tally
		if err = errors.Join(err, e, json.Unmarshal(text, &t)); err != nil {
			continue
		}
		sum.add(t)
	}
	return sum, err
}

func (t *tally) add(o tally) {
	if t.Inputs == 0 || o.Began.Before(t.Began) {
		t.Began = o.Began
	}
	if o.Ended.After(t.Ended) {
		t.Ended = o.Ended
	}
	t.Inputs, t.Refused, t.Cut = t.Inputs+o.Inputs, t.Refused+o.Refused, t.Cut+o.Cut
	t.Repeated.Add(o.Repeated)
	for class, n := range o.Known {
		t.Known[class] += n
	}
}

func (t tally) String() string {
	took := t.Ended.Sub(t.Began)
	rate := func(n int) float64 { return float64(n) / max(took.Seconds(), 1e-3) }
	failed := 0
	for _, n := range t.Known {
		failed += n
	}
	repeated := ""
	if t.Repeated.Runs() > 0 {
		repeated = "; " + t.Repeated.String()
	}
	return fmt.Sprintf("%d executions in %s, %.1f/s on the mean; %d runs (%.1f/s), %d inputs refused; %d runs cut short, %d known failures of %d classes",
		t.Inputs, took.Round(time.Second), rate(t.Inputs), t.Inputs-t.Refused, rate(t.Inputs-t.Refused), t.Refused, t.Cut, failed, len(t.Known)) + repeated
}

func TestTally(t *testing.T) {
	at := time.Unix(100, 0)
	sum := tally{Known: map[string]int{}}
	sum.add(tally{at, at.Add(2 * time.Second), 30, 10, 1, map[string]int{"a": 2, "b": 1}, reports.Repeated{}})
	sum.add(tally{at.Add(time.Second), at.Add(4 * time.Second), 10, 0, 0, map[string]int{"a": 1}, reports.Repeated{Woken: 2}})
	const want = "40 executions in 4s, 10.0/s on the mean; 30 runs (7.5/s), 10 inputs refused; 1 runs cut short, 4 known failures of 2 classes; 2 runs repeated: woken from outside"
	if got := sum.String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
