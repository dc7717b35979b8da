package strict

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func TestPathString(t *testing.T) {
	tests := []struct {
		p    Path
		want string
	}{
		{nil, ""},
		{At("spec", "timeline", 2, "at"), "spec.timeline[2].at"},
		{At("metadata", "annotations", "k8s.v1.cni.cncf.io/networks"), "metadata.annotations[k8s.v1.cni.cncf.io/networks]"},
		{At("spec", "allocations", "7", "id"), "spec.allocations.7.id"},
		{At("a b", "", "c\nd"), `[a b][""]["c\nd"]`},
	}
	for _, tt := range tests {
		if got := tt.p.String(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

// Paths as the API server writes them in the causes of a refusal.
func TestParsePath(t *testing.T) {
	tests := []struct {
		s    string
		want Path
	}{
		{"", nil},
		{"spec.template.spec.containers[0].image", At("spec", "template", "spec", "containers", 0, "image")},
		{"metadata.labels[a.b/c]", At("metadata", "labels", "a.b/c")},
		{"spec.allocations[x", At("spec", "allocations", "x")},
		{"[0][1]", At(0, 1)},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, ParsePath(tt.s)); d != "" {
			t.Errorf("%s: %s", tt.s, d)
		}
	}
}

func TestLocate(t *testing.T) {
	var n yaml.Node
	if err := yaml.Unmarshal([]byte("spec:\n  timeline:\n  - at: 1s\n  - at: 2s\n"), &n); err != nil {
		t.Fatal(err)
	}
	root := n.Content[0]
	if got, ok := Locate(root, At("spec", "timeline", 1, "at")); !ok || got.Line != 4 || got.Value != "2s" {
		t.Errorf("got %+v %v", got, ok)
	}
	// What is missing is reported where it should have been.
	if got, ok := Locate(root, At("spec", "timeline", 1, "crash", "node")); ok || got.Line != 4 || got.Kind != yaml.MappingNode {
		t.Errorf("got %+v %v", got, ok)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"timeline", "title", "timers", "nodes"}
	for word, want := range map[string]string{
		"timelin": "timeline", "Timeline": "timeline", "tilte": "title", "node": "nodes", "frobnicate": "", "": "",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
