// Package bench is what the benchmarks of this project share: the figures of
// bench.json, clocks that a bubble does not stop, and the middle of what they
// measured. It also writes the tables of the reports that are made from recorded
// results: reports/BENCH.md and reports/VERIFY.md.
package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Figure is one metric of bench.json.
type Figure struct {
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Date    string  `json:"date,omitempty"`    // of the measurement; Add writes today
	AtLeast float64 `json:"atLeast,omitempty"` // the goal; 0: none
	AtMost  float64 `json:"atMost,omitempty"`
	Method  string  `json:"method"` // how, against what, how many samples
}

// NewFigure is a Figure of these.
func NewFigure(value float64, unit, method string) Figure {
	return Figure{Value: value, Unit: unit, Method: method}
}

// Figures is a file in the format of bench.json.
type Figures struct {
	Machine any               `json:"machine,omitempty"`
	Metrics map[string]Figure `json:"metrics"`
}

// Add adds to a file of figures, or replaces those of the same name; a figure
// without a goal keeps the goal that the file has. The file is made if it is not
// there. A machine of nil leaves what the file records of the one they were
// measured on.
func Add(file string, figures map[string]Figure, machine any) error {
	all := Figures{Metrics: map[string]Figure{}}
	if err := Read(file, &all); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if machine != nil {
		all.Machine = machine
	}
	for name, f := range figures {
		if f.Date == "" {
			f.Date = time.Unix(0, int64(Wall())).UTC().Format(time.DateOnly)
		}
		if f.AtLeast == 0 && f.AtMost == 0 {
			f.AtLeast, f.AtMost = all.Metrics[name].AtLeast, all.Metrics[name].AtMost
		}
		all.Metrics[name] = f
	}
	var out strings.Builder
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	to.SetIndent("", "  ")
	if err := to.Encode(all); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(out.String()), 0o644)
}

// Read decodes a file of JSON into v.
func Read(file string, v any) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// Rows is the rows of a Markdown table, by name: metric, value, goal, date and method.
func Rows(figures map[string]Figure) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		f := figures[name]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", name, f.value(), f.goal(), f.Date, f.Method)
	}
	return b.String()
}

// value is the value with its unit. Ratios have two decimals, all others three digits.
func (f *Figure) value() string {
	if f.Unit == "ratio" {
		return strconv.FormatFloat(f.Value, 'f', 2, 64)
	}
	return strings.TrimSpace(number(f.Value) + " " + f.Unit)
}

// goal is the goal, and whether it is met.
func (f *Figure) goal() string {
	goal, met := "at least "+number(f.AtLeast), f.Value >= f.AtLeast
	switch {
	case f.AtMost > 0:
		goal, met = "at most "+number(f.AtMost), f.Value <= f.AtMost
	case f.AtLeast == 0:
		return ""
	}
	if met {
		return goal
	}
	return goal + ", **not met**"
}

// number has three significant digits, or all of an integer's, and commas between thousands.
func number(x float64) string {
	if x < 1000 {
		x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	s := strconv.FormatFloat(x, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
