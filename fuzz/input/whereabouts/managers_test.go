package whereabouts_test

import (
	"ipamsim/cmd/managers"
	"ipamsim/scenarios"
)

func init() { scenarios.Use(managers.All()...) }
