package dump_test

import (
	"errors"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/strict"
)

// TestRefusals checks that other input is refused in one line, in terms of the file: without Go
// types, and without lines of a scenario that the user has not seen.
func TestRefusals(t *testing.T) {
	const pool = "---\n" + pool
	for name, c := range map[string]struct{ text, want string }{
		"a list of numbers":        {"[1, 2]", "F:1: want an object with apiVersion and kind: want a mapping, not a number"},
		"words":                    {"hello\n", "F:1: want an object with apiVersion and kind: want a mapping, not text"},
		"a number among the items": {`{"apiVersion":"v1","kind":"List","items":[1]}`, "F:1: want an object with apiVersion and kind: want a mapping, not a number"},
		"metadata":                 {"apiVersion: v1\nkind: Pod\nmetadata: 3\n", "F:1: want an object with apiVersion and kind: metadata: want a mapping, not a number"},
		"a name":                   {"apiVersion: v1\nkind: Node\nmetadata: {name: [a]}\n", "F:1: Node: not a Kubernetes object: metadata.name: want text, not a list"},
		"a spec":                   {"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: hello\n", "F:1: Pod a: spec: want a mapping, not text"},
		"a node's name":            {"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {nodeName: 7}\n", "F:1: Pod a: spec.nodeName: want text, not a number"},
		"a fraction": {"apiVersion: crd.projectcalico.org/v1\nkind: IPPool\nmetadata: {name: p}\nspec: {cidr: 10.0.0.0/16, blockSize: 1.5}\n",
			"F:1: IPPool p: spec.blockSize: want a whole number, not 1.5"},
		"a scenario": {"apiVersion: ipamsim.dev/v1alpha1\nkind: Scenario\nmetadata: {name: a}\n" + pool, "F:1: kind: a scenario, not a dump of a cluster: use ipamsim run"},
		"a plan":     {"# a comment\napiVersion: ipamsim.dev/v1alpha1\nkind: Plan\nmetadata: {name: a}\n" + pool, "F:2: kind: a plan, not a dump of a cluster: use ipamsim plan"},
	} {
		if got := refuses(t, strings.NewReader(c.text)); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

// TestTrace: an error about the scenario is one about the dump, wherever it is.
func TestTrace(t *testing.T) {
	c := dump.New(managers.All())
	for file, text := range map[string]string{
		"pools.yaml":  "apiVersion: crd.projectcalico.org/v1\nkind: IPPool\nmetadata: {name: p}\nspec: {cidr: 10.0.0.0/16}\n",
		"record.yaml": "\napiVersion: crd.projectcalico.org/v1\nkind: BlockAffinity\nmetadata: {name: a}\nspec: {cidr: 10.0.0.0/26, node: n1, state: confirmed, deleted: \"false\"}\n",
	} {
		if err := c.Read(file, strings.NewReader(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	_, report, err := c.Scenario(dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		err  *strict.Error
		want []string
	}{
		{"what was read", &strict.Error{Object: "IPPool p", Field: "spec.cidr", Problem: "bad"}, []string{"pools.yaml:1: IPPool p: spec.cidr: bad"}},
		{"what was made up", &strict.Error{Object: "Node n1", Field: "spec", Problem: "bad"}, []string{"pools.yaml", "record.yaml", ": Node n1: spec: bad"}},
		{"the scenario itself", &strict.Error{Field: "spec.nodes", Problem: "bad"}, []string{"pools.yaml", "record.yaml", ": cannot make a scenario: spec.nodes: bad"}},
	} {
		tt.err.File, tt.err.Line, tt.err.Column = "the imported scenario", 389, 7
		got := report.Trace(tt.err).Error()
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s, want ...%s...", tt.name, got, want)
			}
		}
		if strings.Contains(got, "389") || strings.Contains(got, "made of it:3") {
			t.Errorf("%s: %s: speaks of what nobody has seen", tt.name, got)
		}
	}
	if _, bare, err := pools(t).Scenario(dump.Options{}); err != nil {
		t.Error(err)
	} else if got, want := bare.Trace(&strict.Error{File: "it", Line: 16, Field: "spec.nodes", Problem: "no node"}).Error(), "F: it has no Node and nothing names one: add kubectl get nodes -o yaml"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if other := errors.New("other"); !errors.Is(report.Trace(other), other) {
		t.Error("another error is not left alone")
	}
}

// pools is a dump without a node.
func pools(t *testing.T) *dump.Cluster {
	t.Helper()
	c := dump.New(managers.All())
	if err := c.Read("F", strings.NewReader(pool), nil); err != nil {
		t.Fatal(err)
	}
	return c
}
