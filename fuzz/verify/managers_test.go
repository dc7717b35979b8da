package verify_test

import (
	"ipamsim/cmd/controllers"
	"ipamsim/scenarios"
)

func init() {
	controllers.Use()
}
