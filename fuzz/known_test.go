package fuzz_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
)

// Go's fuzzer stops at the first failure whose cause is on no list: see package known.
var learn = flag.Bool("learn", false, "note classes of failure that are not in testdata/known there, instead of failing")

// knownDir is known.Dir relative to this directory.
var knownDir = filepath.Join("testdata", "known")

func listFile(list string) string { return filepath.Join(knownDir, list) }

// add adds a cause to a list. Other processes may do so at the same time.
func add(k *known.Causes, target string, c *cause.Cause, what string) error {
	return noteKey(k, target, known.Key(c), what)
}

// noteKey is add for a cause in the form of known.Key.
func noteKey(k *known.Causes, target, key, what string) error {
	if !k.LearnKey(key, what) {
		return nil
	}
	f, err := os.OpenFile(listFile(input.Lists(managers.All(), target)[0]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, key+" | "+what)
	return errors.Join(err, f.Close())
}

// The lists can be parsed, and each line has what is known: the scenarios that show the cause,
// which have rows in reports/README.md, or an example from a search.
func TestKnown(t *testing.T) {
	for _, target := range input.Targets(managers.All()) {
		k, err := known.Load(knownDir, input.Lists(managers.All(), target)...)
		if err != nil || k.Len() == 0 {
			t.Errorf("%s: %d causes: %v", target, k.Len(), err)
		}
		k.Each(func(class, what string) {
			names, shown := strings.CutPrefix(what, "scenarios: ")
			if !shown && !strings.HasPrefix(what, "seen: ") {
				t.Errorf("%s: %s: %q, want scenarios: NAME, … or seen: EXAMPLE", target, class, what)
			}
			for _, name := range strings.Split(names, ", ") {
				if _, err := os.Stat(filepath.Join("..", "scenarios", name+".yaml")); shown && err != nil {
					t.Errorf("%s: %s: %v", target, class, err)
				}
			}
		})
	}
	for _, bad := range []string{"a", "a | b", "a | b | c | d", "a | b | c\na | b | d"} {
		if k, err := known.Parse("f", bad); err == nil {
			t.Errorf("%q is read as %v", bad, k)
		}
	}
}
