package ipam

import (
	"ipamsim/model/act"
	"ipamsim/sim/kube"
)

// ActOf returns what an exchange with the API server did: the verb, the object, and the
// outcome. The bodies are left to the caller, which knows the resource: Bare is set.
func ActOf(x kube.Exchange) act.Act { return x.Act() }
