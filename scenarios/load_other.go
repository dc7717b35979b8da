package scenarios

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"ipamsim/scenarios/strict"
)

// Other kinds of files that may be passed to the wrong command.
const (
	planKind = "Plan"
	dumpKind = "dump"
)

// advice is which command is for a file that is one kind and should be another.
var advice = map[[2]string]string{
	{planKind, Kind}: "a Plan, want a Scenario: ipamsim plan answers it",
	{Kind, planKind}: "a Scenario, want a Plan: ipamsim run runs it, and a plan begins with it that has its file under spec.from",
	{dumpKind, Kind}: "a dump of a cluster, want a Scenario: ipamsim import makes one of it",
	{dumpKind, planKind}: "a dump of a cluster, want a Plan: ipamsim import makes a scenario of it, and a plan begins with that if it has " +
		"its file under spec.from",
}

// noneOf is the mistake of a file without a document of the wanted kind: which
// command is for what it is, or what is missing.
func noneOf(file string, roots []*yaml.Node, wanted string) *strict.Error {
	for _, r := range roots {
		if problem := advice[[2]string{other(r), wanted}]; problem != "" {
			d := &strict.Doc{File: file, Root: r}
			return d.FailAt(at("kind"), "%s", problem)
		}
	}
	return &strict.Error{File: file, Line: roots[0].Line, Problem: "no " + wanted + " document, want one with apiVersion: " + APIVersion + " and kind: " + wanted}
}

// other is what a document is that is none of the wanted: Plan, Scenario, dump or "".
func other(r *yaml.Node) string {
	kind := strict.Text(r, "kind")
	switch {
	case strict.Text(r, "apiVersion") == APIVersion && (kind == Kind || kind == planKind):
		return kind
	case strings.HasSuffix(kind, "List"), strict.Text(r, "metadata", "resourceVersion") != "", strict.Text(r, "metadata", "uid") != "":
		return dumpKind // printed by kubectl get, not written by hand
	}
	return ""
}

// tabular reports whether a text is a table as calicoctl draws them.
func tabular(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(data[:min(len(data), 1<<10)]), []byte("+--"))
}

// tooLarge is the mistake of a file that only one kind of document could make so large.
func tooLarge(file string, data []byte, wanted string) *strict.Error {
	problem := "more than 8 MiB, too large for a " + strings.ToLower(wanted)
	if head := data[:min(len(data), pieceMin)]; bytes.Contains(head, []byte("resourceVersion")) || bytes.Contains(head, []byte(`"items"`)) || bytes.Contains(head, []byte("\nitems:")) {
		problem = advice[[2]string{dumpKind, wanted}]
	}
	return &strict.Error{File: file, Problem: problem}
}

// read is the YAML documents of a file, which should have one of a kind.
func read(file string, data []byte, kind string) ([]*yaml.Node, error) {
	switch {
	case len(data) > strict.FileMax:
		return nil, tooLarge(file, data, kind)
	case tabular(data):
		return nil, &strict.Error{File: file, Problem: advice[[2]string{dumpKind, kind}]}
	}
	return strict.Documents(file, data, kind)
}
