package retry

import (
	"errors"
	"fmt"
	"testing"

	"ipamsim/reports"
)

// An attempt is repeated only if something outside woke one of its runs. Any other failure is a defect,
// which must not be hidden by luck.
func TestAgainOnlyWhatWasWoken(t *testing.T) {
	errNot := errors.New("it did not fail again")
	calm, woken := Runs{4, 0}, Runs{4, 1}
	not := fmt.Errorf("digest: %w", errNot)
	other := errors.New("it does not load")
	type try struct {
		runs Runs
		err  error
	}
	for _, c := range []struct {
		name     string
		tries    []try
		want     error
		repeated int
	}{
		{"at once", []try{{calm, nil}}, nil, 0},
		{"woken, and it does not matter", []try{{woken, nil}}, nil, 0},
		{"not again, and nothing woke it", []try{{calm, not}}, errNot, 0},
		{"woken once", []try{{woken, not}, {calm, nil}}, nil, 4},
		{"woken, and then another cause", []try{{woken, not}, {calm, not}}, errNot, 4},
		{"always woken", []try{{woken, not}, {woken, not}, {woken, not}}, errNot, 8},
		{"something else", []try{{woken, other}}, other, 0},
	} {
		n := 0
		repeated, err := Woken(errNot, func() (Runs, error) {
			if n++; n > len(c.tries) {
				return calm, errors.New("one try more than it takes")
			}
			return c.tries[n-1].runs, c.tries[n-1].err
		})
		if !errors.Is(err, c.want) || n != len(c.tries) || repeated != (reports.Repeated{Woken: c.repeated}) {
			t.Errorf("%s: %v after %d tries, %+v repeated", c.name, err, n, repeated)
		}
	}
}
