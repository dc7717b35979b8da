// Package controllers gives a program Kubernetes' own controllers, which make it larger:
// scenarios may then say "controllers: real".
package controllers

import (
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/control/real"
	"ipamsim/sim/controlplane"
)

// Use registers Kubernetes' own controllers. Call it before anything else, outside of bubbles.
func Use() {
	controlplane.Prepare()
	scenarios.UseRealControllers(real.New, real.Check)
}
