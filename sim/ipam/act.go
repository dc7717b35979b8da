package ipam

import (
	"ipamsim/model/act"
	"ipamsim/sim/kube"
)

// ActOf returns what an exchange with the API server did: the verb, the object, and the outcome.
// The caller, which knows the resource, decodes the bodies: Bare is set.
func ActOf(x kube.Exchange) act.Act { return x.Act() }
