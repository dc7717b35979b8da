package main

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
)

// jobs are the scenarios to run: those named, or n of the library, spread over it; beyond
// its size drawn worlds, of one space after the other.
func jobs(files []string, n int) iter.Seq2[*scenarios.Scenario, error] {
	return func(yield func(*scenarios.Scenario, error) bool) {
		named := len(files) > 0
		if !named {
			files, _ = filepath.Glob("scenarios/*.yaml") // the pattern is well-formed
		}
		if len(files) == 0 {
			yield(nil, errors.New("no scenarios/*.yaml here; run it in the project's directory"))
			return
		}
		library := len(files)
		if !named && n > 0 {
			library = min(n, library)
		}
		for i := range library {
			s, err := managers.All().Load(files[i*len(files)/library])
			if !yield(s, err) {
				return
			}
		}
		if named {
			return
		}
		spaces := space.Names(managers.All())
		for i := range n - library {
			name, seed := spaces[i%len(spaces)], uint64(i/len(spaces)+1)
			s, err := space.Draw(managers.All(), name, seed)
			if err != nil {
				err = fmt.Errorf("%s %d: %w", name, seed, err)
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}
