package scenarios_test

import (
	"ipamsim/cmd/controllers"
	"ipamsim/cmd/managers"
	"ipamsim/scenarios"
)

func init() {
	scenarios.All = managers.All()
	controllers.Use()
	scenarios.Tune() // as main functions do
}
