package queue

import (
	"fmt"

	"ipamsim/fuzz/space"
)

// CanarySource is the source of worlds that must fail. A campaign in which none
// does is blind: whatever it did not find may well be there.
const CanarySource = -1

// canaryWorld draws a small cluster whose address manager has a bug: it hands out
// addresses that are taken, if no other one is asked for.
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
