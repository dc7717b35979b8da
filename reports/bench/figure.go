// Package bench is what the benchmarks of this project share: the figures of
// bench.json, clocks that a bubble does not stop, and the middle of what they
// measured.
package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

// Figure is one metric of bench.json.
type Figure struct {
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Method string  `json:"method"` // how, against what, how many samples
}

// NewFigure is a Figure of these.
func NewFigure(value float64, unit, method string) Figure { return Figure{value, unit, method} }

// Add adds to a file of figures, or replaces those of the same name; the
// file is made if it is not there. A machine of nil leaves what the file says of
// the one they were measured on.
func Add(file string, figures map[string]Figure, machine any) error {
	all := struct {
		Machine any               `json:"machine,omitempty"`
		Metrics map[string]Figure `json:"metrics"`
	}{}
	old, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(old, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", file, err)
	}
	if machine != nil {
		all.Machine = machine
	}
	if all.Metrics == nil {
		all.Metrics = map[string]Figure{}
	}
	maps.Copy(all.Metrics, figures)
	out, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, append(out, '\n'), 0o644)
}

// Rows are the rows of a table in Markdown, by name.
func Rows(figures map[string]Figure) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		f := figures[name]
		fmt.Fprintf(&b, "| %s | %.3g %s | %s |\n", name, f.Value, f.Unit, f.Method)
	}
	return b.String()
}
