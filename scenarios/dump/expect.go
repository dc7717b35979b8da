package dump

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"ipamsim/scenarios"
)

// WriteExpecting writes a scenario that Scenario made, with the invariants that are
// broken in it already as what it expects.
func WriteExpecting(w io.Writer, text []byte, broken []string) error {
	const spec = "\nspec:\n"
	i := bytes.Index(text, []byte(spec))
	if i < 0 || len(broken) == 0 {
		_, err := w.Write(text)
		return err
	}
	i += len(spec)
	_, err := w.Write(text[:i])
	if err == nil {
		_, err = fmt.Fprintf(w, "  expect: {violations: [%s]}\n", strings.Join(broken, ", "))
	}
	if err == nil {
		_, err = w.Write(text[i:])
	}
	return err
}

// Check is what holds of any bytes: they are refused in one line, or make a scenario
// that loads, the same twice, with and without names.
func Check(text []byte) error {
	for _, o := range []Options{{}, {Anonymise: true}, {Anonymise: true, Addresses: true}} {
		first, err := imported(text, o)
		if err != nil {
			return err
		}
		second, err := imported(text, o)
		if err != nil {
			return err
		}
		if !bytes.Equal(first, second) {
			return fmt.Errorf("%+v: two scenarios of the same dump", o)
		}
	}
	return nil
}

func imported(text []byte, o Options) ([]byte, error) {
	c := New()
	if err := c.Read("dump", bytes.NewReader(text), nil); err != nil {
		return nil, told(err)
	}
	out, report, err := c.Scenario(o)
	if err != nil {
		return nil, told(err)
	}
	if _, err := scenarios.Parse("scenario", out); err != nil {
		return nil, told(report.Trace(err))
	}
	return out, nil
}

// told is nil for a refusal as people want it.
func told(err error) error {
	var bad *scenarios.Error
	switch s := err.Error(); {
	case !errors.As(err, &bad):
		return fmt.Errorf("a refusal without a place: %w", err)
	case strings.ContainsAny(s, "\n\r") || len(s) > 2000:
		return fmt.Errorf("a refusal of more than one line: %q", s)
	case bad.Problem == "":
		return fmt.Errorf("a refusal without a reason: %w", err)
	}
	return nil
}
