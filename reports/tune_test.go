package reports_test

import (
	"ipamsim/scenarios"
)

func init() {
	scenarios.Tune() // as main functions do
}
