package input_test

import (
	"ipamsim/cmd/controllers"
	"ipamsim/cmd/managers"
	"ipamsim/fuzz/input"
	"ipamsim/scenarios"
)

func init() {
	input.All = managers.All()
	controllers.Use()
	scenarios.Tune() // as main functions do
}
