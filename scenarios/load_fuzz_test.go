package scenarios_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	kubectl "sigs.k8s.io/yaml"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/input"
	"ipamsim/scenarios/strict/stricttest"
)

// TestParseAnyStructure: text that is YAML, and nearly a scenario. Bytes at random,
// which are FuzzScenarioFile's, seldom are.
func TestParseAnyStructure(t *testing.T) {
	files, err := filepath.Glob("testdata/good/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"", "a", "yes", "010", "-1", "1e9", ".nan", "5m", "5 minutes", "worker-1", "web", "net1", "default/net1", "null", "[null]", "{}", "*", "10.0.0.0/24", "fd00::/120", "10.xx.xx.1", "ip-reconciler", "@every 1s", "TZ= * * * * *", "/ip-reconciler", "%s", "Node", "List", "Scenario", strings.Repeat("x", 300)}
	rapid.Check(t, func(rt *rapid.T) {
		text, ok := stricttest.Mangled(rt, rapid.SampledFrom(files).Draw(rt, "file"), words)
		if !ok {
			return
		}
		if err := input.PrintsBack(managers.All(), text); err != nil {
			rt.Error(err)
		}
	})
}

// TestManifestsAreReadAsByKubectl: a plain word in a manifest means here what it
// means to kubectl, or is refused.
func TestManifestsAreReadAsByKubectl(t *testing.T) {
	const head = `apiVersion: ipamsim.dev/v1alpha1
kind: Scenario
metadata: {name: x}
spec: {ipam: canary, nodes: [a], until: 1m}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: net1}
spec: {config: '{"ipam": {"type": "canary", "range": "10.0.0.0/24"}}'}
---
`
	refused := 0
	for _, word := range []string{
		"a", "yes", "No", "on", "OFF", "y", "n", "true", "FALSE", "null", "~", "", "0", "-7", "+7", "010", "-010", "08", "0x1F", "0b101", "0o17",
		"1_000", "1.5", "1.0", "1e3", "1E-3", ".5", "5.", "12:30", "12:30:45", "2021-11-06", "2021-11-06T03:38:11Z", "18446744073709551615",
		"18446744073709551616", "1e400", ".inf", ".NaN", "=", "<<", "'yes'", "\"010\"", "!!str 12", "[1, 0777]", "{a: yes}", "|-\n    yes",
	} {
		manifest := "apiVersion: ipamsim.dev/v1alpha1\nkind: CanaryPool\nmetadata: {name: x}\nspec:\n  word: " + word + "\n"
		s, err := managers.All().Parse("x.yaml", []byte(head+manifest))
		if err != nil {
			if !strings.Contains(err.Error(), "spec.word") {
				t.Fatal(err)
			}
			t.Log(err)
			refused++
			continue
		}
		var got, want any
		text, err := kubectl.YAMLToJSON([]byte(manifest))
		if err != nil {
			t.Errorf("%s: kubectl refuses it: %v", word, err)
			continue
		}
		body := object(t, s, "CanaryPool", "x").Body
		if json.Unmarshal(text, &want) != nil || json.Unmarshal(body, &got) != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: got %s, kubectl has %s", word, body, text)
		}
	}
	if refused > 6 {
		t.Errorf("%d words are refused", refused)
	}
}
