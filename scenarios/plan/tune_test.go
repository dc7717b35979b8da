package plan_test

import (
	"ipamsim/cmd/managers"
	"ipamsim/scenarios"
	"ipamsim/scenarios/plan"
)

func init() {
	plan.All = managers.All()
	scenarios.Tune() // as main functions do
}
