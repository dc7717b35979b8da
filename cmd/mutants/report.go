package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"ipamsim/fuzz/mutants"
)

// facts is where the scores of managers lie, which the report is made of.
const facts = "reports/mutants"

// head begins the report; foot ends it.
const (
	head = `# Mutants: which small mistakes the gate sees

A mutant is one small change of an address manager's code. The gate must be red for it.

- Command: ` + "`make mutants MANAGER=NAME SAMPLE=N SEED=S`" + `. It writes the facts into [mutants](mutants)/NAME.json;
  ` + "`make reports`" + ` writes this page from them. [fuzz/mutants](../fuzz/mutants/README.md) describes the operators.
- All mutants of the packages in sim/ipam/NAME/mutants.txt are in one program, each behind a switch.
  ` + "`ipamsim gate --brief`" + ` runs the scenarios that reach a mutant, until one is red, against a baseline that equals the runs
  without a mutant message by message.
- No mutant is made of code that an allocation cannot depend on: calls that log, count, create an Event or format an
  error, methods String and Error, metrics, generated files, and declarations outside of functions.

Verdicts:

- **killed**: the gate is red.
- **survived**: runs take another course, and the gate is green.
- **the same**: no run differs, by the digests of its messages and of the store. The mutant is equivalent, or the library
  lacks a scenario. These are no part of the score.
- **unreached**: no run of the library executes the place.
- **not judged**: the gate has no time, or cannot run.

The score is killed of killed and survived.

`
	foot = `
## What the figures do not show

- Mutants that were not drawn: the band is that of a random sample of the reached ones.
- Mistakes larger than one operator, and mistakes in code that the library does not reach.
- Of the mutants that are the same in every run, this page lists those whose reason is a missing scenario ("a hole"). The
  others are in [mutants](mutants)/NAME.json, and their reasons in sim/ipam/NAME/survivors.txt.
- Scenarios that were added after a row's date.
`
)

// report writes the facts of this manager, and the report of all that have some.
func (g *garden) report() error {
	results, err := g.results(filepath.Join(g.dir, "results.jsonl"))
	if err != nil {
		return err
	}
	s := mutants.Count(&g.set, g.comesTo(), results)
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

// write writes the report of all facts.
func write(path string) error {
	text, err := page()
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o666)
}

// page is the report of all facts.
func page() (string, error) {
	files, err := filepath.Glob(filepath.Join(facts, "*.json"))
	if err != nil {
		return "", err
	}
	var all []mutants.Section
	for _, file := range files {
		if filepath.Base(file) == harness+".json" {
			continue // the last section
		}
		s, err := readJSON[mutants.Score](file)
		if err != nil {
			return "", err
		}
		reasons, err := mutants.Reasons(filepath.Join(folder(s.Manager), "survivors.txt"))
		if err != nil {
			return "", err
		}
		all = append(all, mutants.Section{Score: s, Reasons: reasons})
	}
	ours, err := harnessSection()
	return head + mutants.Markdown(all) + ours + foot, err
}
