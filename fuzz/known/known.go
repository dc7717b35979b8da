// Package known tells failures that are known from news. Worlds that are drawn fail
// often: the upstream code has known bugs. The lists in fuzz/testdata/known hold their
// classes, a line each: the class, see Class | what is known of it.
package known

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"ipamsim/fuzz/cause"
	"ipamsim/model"
	"ipamsim/reports"
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

// Class is what a failure looks like before it is made small: see cause.Cause.Look.
func Class(rep *reports.Report, v *model.Violation) string { return cause.Of(rep, v).Look() }

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
		class, what, ok := strings.Cut(line, " | ")
		if !ok || strings.Contains(what, " | ") {
			return nil, fmt.Errorf("%s:%d: want CLASS | WHAT IS KNOWN, have %q", file, i+1, line)
		}
		if out[class] != "" && !strings.HasPrefix(what, "seen: ") { // two processes may learn the same
			return nil, fmt.Errorf("%s:%d: %s is listed twice", file, i+1, class)
		}
		out[class] = what
	}
	return out, nil
}
