package tree

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const attachment = `{"metadata":{"annotations":{"k8s.v1.cni.cncf.io/networks":"a, b"}},"spec":{"config":"{\"ipam\":{\"exclude\":[\"10.0.0.1/32\",\"10.0.0.2/32\"],\"range\":\"10.0.0.0/24\"}}","replicas":3}}`

// JSON and comma-separated lists in strings of a manifest are part of the tree; parts that are removed
// there are removed from the string.
func TestWithout(t *testing.T) {
	docs, err := Read([]json.RawMessage{json.RawMessage(attachment)})
	if err != nil {
		t.Fatal(err)
	}
	text, err := Write(docs)
	if err != nil || string(text) != "---\n"+attachment+"\n" {
		t.Errorf("written as\n%s, %v, read as\n%s", text, err, attachment)
	}
	var paths []Path
	Walk(docs[0], nil, func(p Path, _ Tree) {
		paths = append(paths, p)
	})
	const all = 13
	if len(paths) != all {
		t.Fatalf("%d paths, want %d: %v", len(paths), all, paths)
	}
	tests := []struct {
		paths []Path
		want  string
	}{
		{nil, attachment},
		{[]Path{{"metadata"}, {"metadata", "annotations"}}, attachment[:1] + attachment[strings.Index(attachment, `"spec"`):]},
		{[]Path{{"metadata", "annotations", "k8s.v1.cni.cncf.io/networks", 0}}, strings.Replace(attachment, "a, b", "b", 1)},
		{[]Path{{"spec", "config", "ipam", "exclude", 0}, {"spec", "config", "ipam", "exclude", 1}}, strings.Replace(attachment, `\"10.0.0.1/32\",\"10.0.0.2/32\"`, "", 1)},
		{[]Path{{"spec", "config", "ipam", "exclude"}, {"spec", "config", "ipam", "exclude", 1}}, strings.Replace(attachment, `\"exclude\":[\"10.0.0.1/32\",\"10.0.0.2/32\"],`, "", 1)},
		{[]Path{{"spec", "nothing"}, {"spec", "config", "ipam", "exclude", 7}}, attachment},
	}
	for _, tt := range tests {
		text, err := Write([]Tree{Without(docs[0], tt.paths)})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff("---\n"+tt.want+"\n", string(text)); d != "" {
			t.Errorf("without %v:\n%s", tt.paths, d)
		}
	}
	if again, _ := Write(docs); string(again) != string(text) {
		t.Error("an edit has changed the tree itself")
	}
	if v := Value(docs[0], Path{"spec", "replicas"}); v != json.Number("3") {
		t.Errorf("spec.replicas is %v", v)
	}
}
