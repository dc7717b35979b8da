package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ipamsim/fuzz/mutants"
)

// facts is where the scores of managers lie, which the report is made of.
const facts = "reports/mutants"

// head begins the report.
const head = `# Mutants: which small mistakes the gate sees

` + "`make mutants MANAGER=NAME SAMPLE=N SEED=S`" + ` writes this file. Mutants of the packages in sim/ipam/NAME/mutants.txt are made by the
operators of fuzz/mutants, all in one program, each behind a switch. Each one is gated by the gate's own rule (` + "`ipamsim gate --brief`" + `)
with the scenarios that come to it, until one is red, against scenarios/baseline.json after ` + "`gate --update`" + ` with the program
without a mutant, whose runs are the baseline's, message by message.

- **killed**: the gate is red.
- **survived**: runs took another course, and the gate is green.
- **the same**: no run of any scenario was another, by the digests of its messages and of what is stored. Whether the mutant is
  equivalent or the library never asks is not known; they are listed, and no part of the score.
- **unreached**: no run of the library comes to the place.
- **not judged**: the gate had no time, or could not run.

No mutant is made of what an allocation cannot depend on: calls that log, count, make an Event or the text of an error, methods
String and Error, functions of metrics, generated files, and whatever is outside of functions.
`

// report writes the facts of this manager, and the report of all that have some.
func (g *garden) report() error {
	results, err := g.results(filepath.Join(g.dir, "results.jsonl"))
	if err != nil {
		return err
	}
	reached := map[int]bool{}
	for _, id := range g.order() {
		reached[id] = true
	}
	s := mutants.Count(&g.set, reached, results)
	s.Manager, s.Upstream, s.Date, s.Seed, s.Scenarios, s.Steps = g.manager, g.upstream, time.Now().UTC().Format(time.DateOnly), g.seed, len(g.reached), g.steps
	for _, p := range g.targets.Packages {
		s.Packages = append(s.Packages, p.Folder)
	}
	return publish(g.manager, &s)
}

// publish writes facts, and the report of all that have some.
func publish(name string, score any) error {
	if err := os.MkdirAll(facts, 0o777); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(facts, name+".json"), score); err != nil {
		return err
	}
	return write("reports/MUTANTS.md")
}

// readJSON reads what writeJSON wrote.
func readJSON[T any](file string) (v T, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return v, fmt.Errorf("%s: %w", file, err)
	}
	return v, nil
}

func writeJSON(file string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o666)
}

// write makes the report of all facts.
func write(path string) error {
	all, err := filepath.Glob(filepath.Join(facts, "*.json"))
	if err != nil {
		return err
	}
	var out strings.Builder
	out.WriteString(head)
	for _, file := range all {
		if filepath.Base(file) == harness+".json" {
			continue // the last section
		}
		s, err := readJSON[mutants.Score](file)
		if err != nil {
			return err
		}
		reasons, err := mutants.Reasons(filepath.Join(folder(s.Manager), "survivors.txt"))
		if err != nil {
			return err
		}
		out.WriteString("\n" + s.Markdown(reasons))
	}
	ours, err := harnessSection()
	if err != nil {
		return err
	}
	out.WriteString(ours)
	return os.WriteFile(path, []byte(out.String()), 0o666)
}
