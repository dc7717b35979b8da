// Package known tells failures that are known from news. Worlds that are drawn fail
// often: the upstream code has known bugs. The lists in fuzz/testdata/known hold their
// classes, a line each: what broke | where, see Class | what is known of it.
package known

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ipamsim/fuzz/finding"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
)

// Dir of the lists, from the module's top.
const Dir = "fuzz/testdata/known"

// Lists says which lists count for a target; what it learns goes to the first.
var Lists = map[string][]string{
	"FuzzCalico":      {"calico"},
	"FuzzMixed":       {"mixed", "calico", "whereabouts"},
	"FuzzReconcilers": {"whereabouts"},
	"FuzzWhereabouts": {"whereabouts"},
}

// Classes of failure, each with what is known of it.
type Classes map[string]string

// Class is a failure without names, addresses, numbers and faults: what broke, and
// which kind of process broke it, or in which words where it was the passing of
// time. It is coarser than finding.Signature: one bug has many signatures.
func Class(s *scenarios.Scenario, rep *reports.Report, v *model.Violation) string {
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

// Load the lists of a target from the folder that they lie in.
func Load(dir, target string) (Classes, error) {
	out := Classes{}
	for _, list := range Lists[target] {
		file := filepath.Join(dir, list)
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		k, err := Parse(file, string(text))
		if err != nil {
			return nil, err
		}
		maps.Copy(out, k)
	}
	return out, nil
}

// Parse a list. A class that is listed twice is an error that names its line; so is a
// line of another form.
func Parse(file, text string) (Classes, error) {
	out := Classes{}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, " | ")
		if len(f) != 3 {
			return nil, fmt.Errorf("%s:%d: want INVARIANT | AT | WHAT IS KNOWN, have %q", file, i+1, line)
		}
		key := f[0] + " | " + f[1]
		if out[key] != "" && !strings.HasPrefix(f[2], "seen: ") { // two processes may learn the same
			return nil, fmt.Errorf("%s:%d: %s is listed twice", file, i+1, key)
		}
		out[key] = f[2]
	}
	return out, nil
}
