package verify_test

import (
	"ipamsim/cmd/controllers"
	"ipamsim/cmd/managers"
	"ipamsim/scenarios"
)

func init() {
	scenarios.Use(managers.All()...)
	controllers.Use()
}
