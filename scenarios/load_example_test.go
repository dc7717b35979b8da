package scenarios_test

import (
	"fmt"

	"ipamsim/cmd/managers"
)

// A mistake is one line: file, line, field, and what would be right.
func ExampleParse() {
	_, err := managers.All().Parse("web.yaml", []byte(`
apiVersion: ipamsim.dev/v1alpha1
kind: Scenario
metadata:
  name: web
spec:
  ipam: whereabouts
  nodes: [worker-1]
  until: 5 minutes
`))
	fmt.Println(err)
	// Output: web.yaml:9: spec.until: "5 minutes" is not a duration, want e.g. 5m
}
