package main

import (
	"testing"

	"ipamsim/reports/golden"
)

// TestPage: reports/MUTANTS.md is what the recorded facts render to. make reports writes it.
func TestPage(t *testing.T) {
	t.Chdir("../..")
	text, err := page()
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "reports/MUTANTS.md", text)
}
