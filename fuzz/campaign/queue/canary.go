package queue

import (
	"fmt"

	"ipamsim/fuzz/space"
)

// CanarySource is the source of scenarios that must fail. If none of them fails, the campaign
// cannot detect failures, and the absence of findings means nothing.
const CanarySource = -1

// canaryWorld generates a small cluster whose address manager has a bug; by default it assigns
// addresses that are already assigned.
func canaryWorld(seed uint64, bug string) string {
	if bug == "" {
		bug = "duplicate-address"
	}
	c := space.FromSeed(seed)
	return fmt.Sprintf(`
apiVersion: ipamsim.dev/v1alpha1
kind: Scenario
metadata: {name: canary-%d}
spec:
  title: an address manager that is wrong on purpose
  ipam: canary
  seed: %d
  strategy: %s
  nodes: [node-1, node-2]
  until: 30s
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: net}
spec:
  config: '{"type": "macvlan", "ipam": {"type": "canary", "range": "10.0.0.0/%d", "bug": %q}}'
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  serviceName: web
  podManagementPolicy: Parallel
  replicas: %d
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {k8s.v1.cni.cncf.io/networks: net}
    spec:
      containers: [{name: web, image: registry.example/web:1}]
`, seed, seed, space.Pick(c, "timed", "random"), c.Between(26, 28), bug, c.Between(3, 5))
}
