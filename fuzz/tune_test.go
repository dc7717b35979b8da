package fuzz_test

import (
	"ipamsim/cmd/controllers"
	"ipamsim/scenarios"
)

func init() {
	controllers.Use()
	scenarios.Tune() // like main functions
}
