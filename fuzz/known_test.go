package fuzz_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/input"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
)

// Go's fuzzer stops at the first failure, and worlds of these spaces fail often:
// the upstream code has known bugs. The lists in testdata/known hold their classes,
// a line each: what broke | where, see class | what is known of it. A failure of
// another class is news.
var learn = flag.Bool("learn", false, "note classes of failure that are not in testdata/known there, instead of failing")

// listsOf says which lists count for a target; what it learns goes to the first.
var listsOf = map[string][]string{
	"FuzzCalico":      {"calico"},
	"FuzzMixed":       {"mixed", "calico", "whereabouts"},
	"FuzzReconcilers": {"whereabouts"},
	"FuzzWhereabouts": {"whereabouts"},
}

// class is a failure without names, addresses, numbers and faults: what broke, and
// which kind of process broke it, or in which words where it was the passing of
// time. It is coarser than finding.Signature: one bug has many signatures.
func class(s *scenarios.Scenario, rep *reports.Report, v *model.Violation) string {
	g := finding.SignatureOf(s, rep, v)
	at := strings.Fields(g.At)
	if len(at) == 0 {
		dashed := func(w string) bool { return strings.ContainsAny(w, "-|") } // a name, perhaps
		words := slices.DeleteFunc(strings.Fields(g.Message), dashed)
		return v.Invariant + " | " + strings.Join(words[:min(len(words), wordsMax)], " ")
	}
	if _, err := sim.ParseOutcome(at[len(at)-1]); err == nil { // a message of somebody
		return v.Invariant + " | " + at[0]
	}
	return v.Invariant + " | " + g.At
}

// wordsMax is how much of a message tells its class.
const wordsMax = 9

// known is a list of classes, each with what is known of it.
type known map[string]string

func listFile(list string) string { return filepath.Join("testdata", "known", list) }

func loadKnown(target string) (known, error) {
	out := known{}
	for _, list := range listsOf[target] {
		text, err := os.ReadFile(listFile(list))
		if err != nil {
			return nil, err
		}
		k, err := parseKnown(listFile(list), string(text))
		if err != nil {
			return nil, err
		}
		maps.Copy(out, k)
	}
	return out, nil
}

func parseKnown(file, text string) (known, error) {
	out := known{}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, " | ")
		if len(f) != 3 {
			return nil, fmt.Errorf("%s:%d: want INVARIANT | AT | WHAT IS KNOWN, have %q", file, i+1, line)
		}
		key := f[0] + " | " + f[1]
		if out[key] != "" && !*learn { // two processes may learn the same
			return nil, fmt.Errorf("%s:%d: %s is listed twice", file, i+1, key)
		}
		out[key] = f[2]
	}
	return out, nil
}

// add notes a class. Other processes may do so at the same time.
func (k known) add(target, class, what string) error {
	k[class] = what
	f, err := os.OpenFile(listFile(listsOf[target][0]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s | %s\n", class, what)
	return errors.Join(err, f.Close())
}

// The lists can be read, and each line says what is known: the scenarios that show
// it, whose rows are in reports/README.md, or an example that a search saw.
func TestKnown(t *testing.T) {
	for _, target := range input.Targets() {
		k, err := loadKnown(target)
		if err != nil || len(k) == 0 {
			t.Errorf("%s: %d classes: %v", target, len(k), err)
		}
		for class, what := range k {
			names, shown := strings.CutPrefix(what, "scenarios: ")
			if !shown && !strings.HasPrefix(what, "seen: ") {
				t.Errorf("%s: %s: %q, want scenarios: NAME, … or seen: EXAMPLE", target, class, what)
			}
			for _, name := range strings.Split(names, ", ") {
				if _, err := os.Stat(filepath.Join("..", "scenarios", name+".yaml")); shown && err != nil {
					t.Errorf("%s: %s: %v", target, class, err)
				}
			}
		}
	}
	for _, bad := range []string{"a", "a | b", "a | b | c | d", "a | b | c\na | b | d"} {
		if k, err := parseKnown("f", bad); err == nil && !*learn {
			t.Errorf("%q is read as %v", bad, k)
		}
	}
}
