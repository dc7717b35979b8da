package dump_test

import (
	"os"
	"strings"
	"testing"

	"ipamsim/scenarios/dump/dumptest/large"
)

// TestManyHolders: a conflict of very many pods has a sentence that people read.
func TestManyHolders(t *testing.T) {
	text := string(large.PodsAndNodes(large.Size{Pods: 300, Nodes: 3}))
	for i := range 3 {
		text = strings.ReplaceAll(text, "podIP: 10.0."+string(rune('0'+i))+".", "podIP: 10.0.9.9 # ")
		text = strings.ReplaceAll(text, "    - ip: 10.0."+string(rune('0'+i))+".", "    - ip: 10.0.9.9 # ")
	}
	path := t.TempDir() + "/dump.yaml"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f := foundIn(t, path)
	if len(f.All) != 1 || len(f.All[0].Objects) != 301 || len(f.All[0].Message) > 200 || !strings.Contains(f.All[0].Message, " and 296 more report the same address, 10.0.9.9") {
		t.Errorf("got %d findings, %.300s", len(f.All), f.All[0].Message)
	}
}
