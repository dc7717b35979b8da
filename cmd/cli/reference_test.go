package cli

import (
	"strings"
	"testing"

	"ipamsim/cmd/cli/reference"
	"ipamsim/cmd/managers"
	"ipamsim/reports/golden"
	"ipamsim/scenarios"
	"ipamsim/scenarios/plan"
)

// The reference documents are generated: make golden.
func TestReference(t *testing.T) {
	var commands, scenario, plans strings.Builder
	reference.Markdown(&commands, Root(managers.All()...))
	golden.Check(t, "COMMANDS.md", commands.String())

	schema, err := scenarios.Managers(managers.All()).Schema()
	if err == nil {
		err = reference.Schema(&scenario, "Fields of a scenario", "ipamsim schema", schema)
	}
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "../../scenarios/REFERENCE.md", scenario.String())

	if schema, err = plan.Schema(managers.All()); err == nil {
		err = reference.Schema(&plans, "Fields of a plan", "ipamsim schema plan", schema)
	}
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "../../scenarios/plan/REFERENCE.md", plans.String())
}
