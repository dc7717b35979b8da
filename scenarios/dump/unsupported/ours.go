package unsupported

import (
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/kept"
)

// ourKinds are the documents that are no dump, and which command is for them.
var ourKinds = map[string]string{
	scenarios.Kind: "a scenario, not a dump of a cluster: use ipamsim run",
	"Plan":         "a plan, not a dump of a cluster: use ipamsim plan",
}

// Ours refuses the files of other commands: their manifests would otherwise pass for a cluster.
func Ours(h *kept.Head) error {
	if problem := ourKinds[h.Kind]; problem != "" && h.APIVersion == scenarios.APIVersion {
		return h.From.Fail("", "kind", "%s", problem)
	}
	return nil
}
