// Package dumptest checks what holds of any dump.
package dumptest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/strict"
)

// Check is what holds of any bytes: they are refused in one line, or make a scenario
// that loads, the same twice, with and without names.
func Check(managers scenarios.Managers, text []byte) error {
	for _, o := range []dump.Options{{}, {Anonymise: true}, {Anonymise: true, Addresses: true}} {
		first, err := written(managers, text, o)
		if err != nil {
			return err
		}
		second, err := written(managers, text, o)
		if err != nil {
			return err
		}
		if !bytes.Equal(first, second) {
			return fmt.Errorf("%+v: two scenarios of the same dump", o)
		}
	}
	return nil
}

func written(managers scenarios.Managers, text []byte, o dump.Options) ([]byte, error) {
	c := dump.New(managers)
	if err := c.Read("dump", bytes.NewReader(text), nil); err != nil {
		return nil, told(err)
	}
	out, report, err := c.Scenario(o)
	if err != nil {
		return nil, told(err)
	}
	if _, err := managers.Parse("scenario", out); err != nil {
		return nil, told(report.Trace(err))
	}
	return out, nil
}

// told is nil for a refusal as people want it.
func told(err error) error {
	var bad *strict.Error
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
