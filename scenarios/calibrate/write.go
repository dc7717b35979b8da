package calibrate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"ipamsim/reports/visible"
	"ipamsim/scenarios"
	"ipamsim/scenarios/plan"
	"ipamsim/scenarios/plan/values"
	"ipamsim/scenarios/strict"
)

// Settings writes the parameters as a plan has them, each under what it rests on. What
// rests on too little is a comment.
func (f *Fit) Settings(w io.Writer) error {
	root := &yaml.Node{Kind: yaml.MappingNode}
	settings, err := f.node()
	if err != nil {
		return err
	}
	root.Content = append(root.Content, word("settings"), settings)
	return encode(w, root)
}

func encode(w io.Writer, n *yaml.Node) error {
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	return errors.Join(e.Encode(n), e.Close())
}

func word(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }

// node is the mapping of settings.
func (f *Fit) node() (*yaml.Node, error) {
	out := &yaml.Node{Kind: yaml.MappingNode}
	var above []string // comments that wait for the next setting
	lacks := map[string]bool{}
	for i := range f.Parameters {
		p := &f.Parameters[i]
		value, err := valueOf(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Setting, err)
		}
		lacks[p.Setting] = p.Lack != (Lack{}) || value == nil
		// Half of a pair would be refused.
		without := lacks[p.Setting] || lacks[strings.TrimSuffix(p.Setting, "For")+"Every"] || lackedLater(f.Parameters[i+1:], p.Setting)
		text := visible.Text(p.Text())
		if without {
			line := p.Setting + ": "
			if value != nil {
				line += strings.TrimSpace(flowText(value)) + " # "
			}
			above = append(above, line+text)
			continue
		}
		key := word(p.Setting)
		key.HeadComment = strings.Join(append(above, text), "\n")
		above = nil
		out.Content = append(out.Content, key, value)
	}
	if n := len(out.Content); n > 0 && len(above) > 0 {
		out.Content[n-2].FootComment = strings.Join(above, "\n")
	} else if n == 0 {
		out.Style, out.HeadComment = yaml.FlowStyle, strings.Join(above, "\n")
	}
	return out, nil
}

// lackedLater reports whether the other half of a pair, which comes later, has no estimate.
func lackedLater(rest []Parameter, setting string) bool {
	name, every := strings.CutSuffix(setting, "Every")
	return every && slices.ContainsFunc(rest, func(p Parameter) bool { return p.Setting == name+"For" && (p.Value == nil || p.Lack != (Lack{})) })
}

// valueOf is a value on one line.
func valueOf(p *Parameter) (*yaml.Node, error) {
	if p.Value == nil {
		return nil, nil
	}
	if marks, ok := p.Value.(map[string]values.Span); ok {
		return marksOf(marks), nil
	}
	n := &yaml.Node{}
	if err := n.Encode(p.Value); err != nil {
		return nil, err
	}
	n.Style = yaml.FlowStyle
	return n, nil
}

// marksOf has percentiles in their order, and then the rest.
func marksOf(marks map[string]values.Span) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	var names []string
	for name := range marks {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { // ages grow with percentiles
		if a == "rest" || b == "rest" {
			return cmp.Compare(a, b)
		}
		return cmp.Compare(marks[a].Duration.Duration, marks[b].Duration.Duration)
	})
	for _, name := range names {
		n.Content = append(n.Content, word(name), word(marks[name].String()))
	}
	return n
}

func flowText(n *yaml.Node) string {
	var b bytes.Buffer
	if encode(&b, n) != nil {
		return ""
	}
	return b.String()
}

// loads are the settings that a calibration takes the place of.
var loads = []string{
	"nodes", "maxPods", "grow", "growAt", "pods", "growPods", "podsPerNode", "lifetime",
	"arrivals", "arrivalsByHour", "arrivalsByWeekday", "arrivalsBatch", "arrivalsLifetime", "begins",
	"drainEvery", "drainFor", "crashEvery", "crashFor", "replaceEvery", "replaceFor", "replaceDrained",
}

// Into writes a plan with the settings of the calibration in the place of its own. Those
// that rest on too little stay as the plan has them. file is its name in messages; open
// reads what it names.
//
// The error is a *strict.Error if the plan, as it is or as it becomes, is none.
func (f *Fit) Into(w io.Writer, managers scenarios.Managers, file string, text []byte, open plan.Open) error {
	if _, err := plan.Parse(managers, file, text, open); err != nil {
		return err
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var n yaml.Node
		err := d.Decode(&n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = f.put(&n)
		}
		if err == nil {
			err = e.Encode(&n)
		}
		if err != nil {
			return &strict.Error{File: file, Problem: strings.Join(strings.Fields(err.Error()), " ")}
		}
	}
	if err := e.Close(); err != nil {
		return err
	}
	if _, err := plan.Parse(managers, file+" with the calibrated load", out.Bytes(), open); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}

// put gives a Plan document its settings; others stay as they are.
func (f *Fit) put(doc *yaml.Node) error {
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil
	}
	root := doc.Content[0]
	spec := strict.Child(root, "spec")
	if kind := strict.Child(root, "kind"); kind == nil || kind.Value != plan.Kind || spec == nil || spec.Kind != yaml.MappingNode {
		return nil
	}
	fitted, err := f.node()
	if err != nil {
		return err
	}
	old := strict.Child(spec, "settings")
	if old == nil || old.Kind != yaml.MappingNode {
		spec.Content = append(spec.Content, word("settings"), fitted)
		return nil
	}
	present := map[string]bool{}
	for i := 0; i+1 < len(fitted.Content); i += 2 {
		present[fitted.Content[i].Value] = true
	}
	if present["pods"] {
		present["podsPerNode"] = true
	}
	if present["grow"] {
		present["growAt"] = true
	}
	var keep []*yaml.Node
	for i := 0; i+1 < len(old.Content); i += 2 {
		if name := old.Content[i].Value; !slices.Contains(loads, name) || !present[name] {
			keep = append(keep, old.Content[i], old.Content[i+1])
		}
	}
	old.Content, old.Style = append(keep, fitted.Content...), 0
	return nil
}
