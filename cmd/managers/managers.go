// Package managers is the list of the address managers that come with ipamsim, and the
// one place outside of their own folders that names them.
package managers

import (
	"sync"

	inputwhereabouts "ipamsim/fuzz/input/whereabouts"
	spacecalico "ipamsim/fuzz/space/calico"
	spaceloadbalancer "ipamsim/fuzz/space/calico/loadbalancer"
	spacehostlocal "ipamsim/fuzz/space/hostlocal"
	spacemetallb "ipamsim/fuzz/space/metallb"
	spacemixed "ipamsim/fuzz/space/mixed"
	spacenodeipam "ipamsim/fuzz/space/nodeipam"
	spaceservices "ipamsim/fuzz/space/services"
	spacewhereabouts "ipamsim/fuzz/space/whereabouts"
	answercalico "ipamsim/reports/answer/calico"
	answerservices "ipamsim/reports/answer/services"
	answerwhereabouts "ipamsim/reports/answer/whereabouts"
	"ipamsim/scenarios"
	dumpcalico "ipamsim/scenarios/dump/calico"
	"ipamsim/scenarios/dump/calico/remedies"
	dumphostlocal "ipamsim/scenarios/dump/hostlocal"
	dumpmetallb "ipamsim/scenarios/dump/metallb"
	dumpnodeipam "ipamsim/scenarios/dump/nodeipam"
	dumpservices "ipamsim/scenarios/dump/services"
	dumpwhereabouts "ipamsim/scenarios/dump/whereabouts"
	plancalico "ipamsim/scenarios/plan/calico"
	plannodeipam "ipamsim/scenarios/plan/nodeipam"
	planservices "ipamsim/scenarios/plan/services"
	planwhereabouts "ipamsim/scenarios/plan/whereabouts"
	"ipamsim/sim/ipam/calico"
	"ipamsim/sim/ipam/calico/loadbalancer"
	"ipamsim/sim/ipam/canary"
	"ipamsim/sim/ipam/hostlocal"
	"ipamsim/sim/ipam/metallb"
	"ipamsim/sim/ipam/mixed"
	"ipamsim/sim/ipam/nodeipam"
	"ipamsim/sim/ipam/services"
	"ipamsim/sim/ipam/whereabouts"
	"ipamsim/sim/strategy"
)

// All are the managers, in the order in which the schema lists them, each with what the
// layers above sim/ipam know of it. They are made once; call it outside of bubbles first.
var All = sync.OnceValue(func() scenarios.Managers {
	c, w := calico.New(), whereabouts.New()
	return scenarios.Managers{
		w.With(spacewhereabouts.Space, inputwhereabouts.Reconcilers, dumpwhereabouts.Importer, dumpwhereabouts.Remedies, planwhereabouts.Plan, answerwhereabouts.Answers),
		c.With(spacecalico.Space, strategy.Racing, dumpcalico.Importer, remedies.Calico, plancalico.Plan, answercalico.Answers),
		loadbalancer.New(c).With(spaceloadbalancer.Space, dumpcalico.Balancers),
		canary.New(),
		mixed.New(c, w).With(spacemixed.Space),
		metallb.New().With(spacemetallb.Space, dumpmetallb.Importer),
		hostlocal.New().With(spacehostlocal.Space, dumphostlocal.Importer),
		nodeipam.New().With(spacenodeipam.Space, dumpnodeipam.Importer, plannodeipam.Plan),
		services.New().With(spaceservices.Space, dumpservices.Importer, planservices.Plan, answerservices.Answers),
	}
})
