package scenarios_test

import (
	"strings"
	"testing"

	"ipamsim/cmd/managers"
)

// What is without effect is refused in a file that people write, and not in one that was
// recorded: making small leaves a latency without its tail.
func TestRecordedLatencyWithoutTail(t *testing.T) {
	const text = `apiVersion: ipamsim.dev/v1alpha1
kind: Scenario
metadata: {name: a}
spec:
  ipam: whereabouts
  nodes: [n]
  until: 1s
  latencies: {api: {median: 2ms, slow: 1s}}
`
	const network = `---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: net1}
spec: {config: '{"cniVersion": "0.3.1", "name": "net1", "type": "macvlan", "ipam": {"type": "whereabouts", "range": "10.0.0.0/29"}}'}
`
	if _, err := managers.All().Parse("a.yaml", []byte(text+network)); err == nil || !strings.Contains(err.Error(), "requires tail") {
		t.Errorf("written: %v", err)
	}
	recorded := text + "  schedule: {upstream: github.com/k8snetworkplumbingwg/whereabouts@v0.9.4, digest: 0123456789abcdef, seed: 1, steps: 1}\n"
	if _, err := managers.All().Parse("a.yaml", []byte(recorded+network)); err != nil {
		t.Errorf("recorded: %v", err)
	}
}
