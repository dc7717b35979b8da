package unsupported

import (
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/kept"
)

// ourKinds are the documents that are no dump, and which command is for them.
var ourKinds = map[string]string{
	scenarios.Kind: "a scenario, no dump of a cluster: ipamsim run runs it",
	"Plan":         "a plan, no dump of a cluster: ipamsim plan answers it",
}

// Ours refuses what somebody wrote for another command: the manifests beside it would
// pass for a cluster.
func Ours(h *kept.Head) error {
	if problem := ourKinds[h.Kind]; problem != "" && h.APIVersion == scenarios.APIVersion {
		return h.From.Fail("", "kind", "%s", problem)
	}
	return nil
}
