package space_test

import (
	"ipamsim/cmd/managers"
	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
)

func init() {
	space.All = managers.All()
	scenarios.Tune() // as main functions do
}
