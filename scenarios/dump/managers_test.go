package dump_test

import (
	"ipamsim/cmd/managers"
	"ipamsim/scenarios"
)

func init() {
	scenarios.Use(managers.All()...)
	scenarios.Tune() // as main functions do
}
