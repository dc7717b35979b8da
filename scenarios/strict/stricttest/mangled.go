// Package stricttest is for tests of what reads files by package strict.
package stricttest

import (
	"bytes"
	"errors"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// Mangled is a YAML file in which up to three nodes were changed: they have another of the
// words, nothing in them, an entry twice, or are like another node. ok is false if that can
// not be written as YAML.
func Mangled(t *rapid.T, file string, words []string) (text []byte, ok bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var docs, all []*yaml.Node
	for d := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var n yaml.Node
		if d.Decode(&n) != nil {
			break
		}
		docs, all = append(docs, &n), append(all, nodesOf(&n)...)
	}
	for range rapid.IntRange(1, 3).Draw(t, "changes") {
		n, other := rapid.SampledFrom(all).Draw(t, "node"), rapid.SampledFrom(all).Draw(t, "other")
		switch rapid.IntRange(0, 4).Draw(t, "how") {
		case 0:
			*n = yaml.Node{Kind: yaml.ScalarNode, Value: rapid.SampledFrom(words).Draw(t, "word")}
		case 1:
			n.Value, n.Tag = rapid.SampledFrom(words).Draw(t, "word"), ""
		case 2:
			n.Content = nil
		case 3:
			if len(n.Content) >= 2 {
				n.Content = append(n.Content, n.Content[:2]...)
			}
		case 4:
			if len(nodesOf(other)) < 30 && !slices.Contains(nodesOf(other), n) {
				*n = *other
			}
		}
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	for _, d := range docs {
		if d.Kind == yaml.DocumentNode && len(d.Content) == 1 && encodes(e, d) != nil {
			return nil, false
		}
	}
	return out.Bytes(), true
}

// encodes is Encode, which panics on some trees that are no YAML.
func encodes(e *yaml.Encoder, n *yaml.Node) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errors.New("no YAML")
		}
	}()
	return e.Encode(n)
}

func nodesOf(n *yaml.Node) []*yaml.Node {
	out := []*yaml.Node{n}
	for _, c := range n.Content {
		out = append(out, nodesOf(c)...)
	}
	return out
}
