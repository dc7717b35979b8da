package plan_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"ipamsim/cmd/managers"
	"ipamsim/scenarios/plan"
	"ipamsim/scenarios/strict"
)

// FuzzPlanFile: any bytes are a plan, or one clear line says why not. What is a
// plan can be packed, and is the same plan then.
func FuzzPlanFile(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.yaml", "testdata/bad/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatal(pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if problem := parses(data); problem != "" {
			t.Error(problem)
		}
	})
}

// parses says what is wrong with how a text was loaded, or "".
func parses(data []byte) string {
	nothing := func(string) ([]byte, error) { return nil, os.ErrNotExist }
	p, err := plan.Parse(managers.All(), "x.yaml", data, nothing)
	if err != nil {
		var e *strict.Error
		if !errors.As(err, &e) || e.Problem == "" || strings.ContainsAny(err.Error(), "\n\r") {
			return "not one clear line: " + err.Error()
		}
		return ""
	}
	text, err := p.Pack()
	if err != nil {
		return "does not pack: " + err.Error()
	}
	q, err := plan.Parse(managers.All(), "x.yaml", text, nothing)
	switch {
	case err != nil:
		return "does not load again: " + err.Error()
	case len(q.Cells) != len(p.Cells) || q.Doc.Spec.Repeats != p.Doc.Spec.Repeats || q.Doc.Spec.Engine != p.Doc.Spec.Engine:
		return "another plan when packed"
	}
	return ""
}

// TestParseAnyStructure: text that is YAML, and nearly a plan.
func TestParseAnyStructure(t *testing.T) {
	words := []string{"", "a", "yes", "010", "-1", "1e9", ".nan", "5m", "30d", "99999999d", "null", "{}", "[]", "*", "10.0.0.0/24", "10.0.0.0/0", "fd00::/64", "blockSize", "podsPerNode", "both", "calico", "whereabouts", "Plan", "Scenario", "%s", "<script>", strings.Repeat("x", 300)}
	loaded := 0
	rapid.Check(t, func(rt *rapid.T) {
		data, err := os.ReadFile(filepath.Join("testdata", "good", rapid.SampledFrom(goods(t)).Draw(rt, "file")+".yaml"))
		if err != nil {
			rt.Fatal(err)
		}
		var docs, all []*yaml.Node
		for d := yaml.NewDecoder(bytes.NewReader(data)); ; {
			var n yaml.Node
			if d.Decode(&n) != nil {
				break
			}
			docs, all = append(docs, &n), append(all, nodesOf(&n)...)
		}
		for range rapid.IntRange(1, 3).Draw(rt, "changes") {
			n, other := rapid.SampledFrom(all).Draw(rt, "node"), rapid.SampledFrom(all).Draw(rt, "other")
			switch rapid.IntRange(0, 3).Draw(rt, "how") {
			case 0:
				*n = yaml.Node{Kind: yaml.ScalarNode, Value: rapid.SampledFrom(words).Draw(rt, "word")}
			case 1:
				n.Content = nil
			case 2:
				if len(n.Content) >= 2 {
					n.Content = append(n.Content, n.Content[:2]...)
				}
			case 3:
				if n.Kind == yaml.ScalarNode && other.Kind == yaml.ScalarNode {
					*n = *other
				}
			}
		}
		var out bytes.Buffer
		e := yaml.NewEncoder(&out)
		for _, d := range docs {
			if d.Kind != yaml.DocumentNode || len(d.Content) != 1 || encodes(e, d) != nil {
				return
			}
		}
		if _, err := plan.Parse(managers.All(), "x.yaml", out.Bytes(), func(string) ([]byte, error) { return nil, os.ErrNotExist }); err == nil {
			loaded++
		}
		if problem := parses(out.Bytes()); problem != "" {
			rt.Errorf("%s\n%s", problem, out.Bytes())
		}
	})
	if loaded == 0 {
		t.Error("none was a plan")
	}
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
