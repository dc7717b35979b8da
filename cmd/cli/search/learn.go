package search

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"ipamsim/fuzz/campaign"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
)

// learned adds the causes of a campaign that are on no list to the list of its space, and returns
// their number. A failure that was not shrunk has no known cause.
func (f *exploreFlags) learned(o *campaign.Outcome, causes known.Causes) (n int, err error) {
	list := filepath.Join(known.Dir, input.Lists(f.managers, input.TargetOf(f.space))[0])
	if err := os.MkdirAll(known.Dir, 0o777); err != nil {
		return 0, fmt.Errorf("--learn: %w", err)
	}
	file, err := os.OpenFile(list, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return 0, fmt.Errorf("--learn: %w", err)
	}
	for _, r := range o.Rows {
		if r.Rough || causes.Cause(&r.Cause) != "" {
			continue
		}
		what := known.SeenAs(r.Sentence)
		causes.Learn(&r.Cause, what)
		if _, e := fmt.Fprintln(file, known.Line(&r.Cause, what)); e != nil {
			err = errors.Join(err, fmt.Errorf("--learn: %w", e))
		}
		n++
	}
	return n, errors.Join(err, file.Close())
}
