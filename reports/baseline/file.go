package baseline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// fileMax bounds what is read: a hundred times the library's.
const fileMax = 64 << 20

// Load reads the baseline in a file, which must be a regular one. The error of a baseline
// names the file.
func Load(path string) (*Baseline, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s: no regular file", path))
	}
	b, err := Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	b.File = path
	return b, nil
}

// Read a baseline. The error is one line that names the field.
func Read(r io.Reader) (*Baseline, error) {
	text, err := io.ReadAll(io.LimitReader(r, fileMax+1))
	if err != nil {
		return nil, err
	}
	if len(text) > fileMax {
		return nil, errors.New("more than 64 MiB, too large for a baseline")
	}
	b := &Baseline{}
	var head struct{ Format string }
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, wrong(text, err)
	}
	if head.Format != Format {
		return nil, fmt.Errorf("format: want %q, have %q; ipamsim gate --update writes a new one", Format, head.Format)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(b); err != nil {
		return nil, wrong(text, err)
	}
	if d.More() {
		return nil, errors.New("something follows the baseline")
	}
	for i := range b.Scenarios {
		name, _ := json.Marshal(b.Scenarios[i].Scenario)
		before, _, _ := bytes.Cut(text, append([]byte(`"scenario":`), name...))
		b.Scenarios[i].Line = 1 + bytes.Count(before, []byte("\n"))
	}
	return b, b.check()
}

// wrong is an error of the parser with the line that it is in.
func wrong(text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	at := int64(-1)
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
		err = fmt.Errorf("%s: want %s, have %s", kind.Field, kind.Type, kind.Value)
	}
	msg := strings.TrimPrefix(err.Error(), "json: ")
	if at >= 0 && at <= int64(len(text)) {
		return fmt.Errorf("line %d: %s", 1+bytes.Count(text[:at], []byte("\n")), msg)
	}
	return errors.New(msg)
}

var digest = regexp.MustCompile(`^[0-9a-f]{16}$`)

func (b *Baseline) check() error {
	for name, t := range b.Tolerances {
		if !(t.Relative >= 0 && t.Absolute >= 0 && t.Pooled >= 0) {
			return fmt.Errorf("tolerances[%s]: want numbers of at least 0", name)
		}
	}
	last := ""
	for i := range b.Scenarios {
		e := &b.Scenarios[i]
		at := fmt.Sprintf("scenarios[%d] (%s)", i, e.Scenario)
		if e.Scenario <= last {
			return fmt.Errorf("%s: want names in order, each once", at)
		}
		last = e.Scenario
		if err := e.check(); err != nil {
			return fmt.Errorf("%s.%w", at, err)
		}
	}
	return nil
}

func (e *Entry) check() error {
	if len(e.Runs) == 0 {
		return errors.New("runs: missing")
	}
	for i, r := range e.Runs {
		if r.Digest != "" && !digest.MatchString(r.Digest) {
			return fmt.Errorf("runs[%d].digest: want 16 hexadecimal digits, have %q", i, r.Digest)
		}
		if !slices.IsSorted(r.Violated) {
			return fmt.Errorf("runs[%d].violated: want names in order", i)
		}
	}
	if e.Wide < 0 {
		return errors.New("wide: want a number of at least 0")
	}
	for name, n := range e.Rates {
		if n < 1 || n > e.Wide {
			return fmt.Errorf("rates[%s]: want 1 to %d, have %d", name, e.Wide, n)
		}
	}
	for name, c := range e.Costs {
		// Of is 0 if only the wide runs have such a process.
		if !(c.Of >= 0) || c.Low > c.Median || c.Median > c.High {
			return fmt.Errorf("costs[%s]: want [sum, of >= 0, low, median, high]", name)
		}
	}
	return nil
}

// Write a baseline: a line for each scenario, so that diffs read.
func Write(w io.Writer, b *Baseline) error {
	var out bytes.Buffer
	up, err := json.Marshal(b.Upstream)
	if err != nil {
		return err
	}
	tol, err := json.MarshalIndent(b.Tolerances, "  ", "  ")
	if err != nil {
		return err
	}
	fmt.Fprintf(&out, "{\n  \"format\": %q,\n  \"upstream\": %s,\n  \"tolerances\": %s,\n  \"scenarios\": [", Format, up, tol)
	for i := range b.Scenarios {
		line, err := json.Marshal(&b.Scenarios[i])
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    ")
		out.Write(line)
	}
	out.WriteString("\n  ]\n}\n")
	_, err = w.Write(out.Bytes())
	return err
}

// MarshalJSON is a list of numbers with as many digits as mean something.
func (c Cost) MarshalJSON() ([]byte, error) {
	var b []byte
	for i, x := range []float64{c.Sum, c.Of, c.Low, c.Median, c.High} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, errors.New("a cost is no number")
		}
		b = append(b, "[,,,,"[i])
		b = strconv.AppendFloat(b, math.Round(x*1e6)/1e6, 'f', -1, 64)
	}
	return append(b, ']'), nil
}

// UnmarshalJSON is its inverse.
func (c *Cost) UnmarshalJSON(text []byte) error {
	var x []float64
	if err := json.Unmarshal(text, &x); err != nil {
		return err
	}
	if len(x) != 5 {
		return errors.New("costs: want [sum, of, low, median, high]")
	}
	c.Sum, c.Of, c.Low, c.Median, c.High = x[0], x[1], x[2], x[3], x[4]
	return nil
}
