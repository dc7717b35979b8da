package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
)

// Plan is a loaded file, checked and ready to be run, point by point.
type Plan struct {
	Doc   Document // with what the file leaves to defaults
	File  string
	Cells []Cell

	sheet   *scenarios.Sheet
	base    *scenarios.Scenario
	manager Manager // what is known of its manager
	text    []byte  // the file
	from    []byte  // what spec.from names; nil: nothing
	made    []*made
	start   start
}

// Name of the plan.
func (p *Plan) Name() string { return p.Doc.Metadata.Name }

// Upstream is module@version of the address manager.
func (p *Plan) Upstream() string { return p.base.Manager().Upstream }

// Manager is the name of the address manager.
func (p *Plan) Manager() string { return p.base.Doc.Spec.IPAM }

// Bounds reports measures in spec.want that do not exist, and bounds that a measure always or never
// meets: known returns what is wrong with a measure and a bound. The error is a *strict.Error.
func (p *Plan) Bounds(known func(measure string, most float64) error) error {
	want := p.Doc.Spec.Want
	for _, name := range slices.Sorted(maps.Keys(want.Require)) {
		if err := known(name, want.Require[name]); err != nil {
			return p.sheet.Fail(err.Error(), "spec", "want", "require", name)
		}
	}
	if want.Minimise == "" {
		return nil
	}
	if err := known(want.Minimise, 0); err != nil {
		return p.sheet.Fail(err.Error(), "spec", "want", "minimise")
	}
	return nil
}

// Unknown returns what an import reported as unknown about the cluster, one line each.
func (p *Plan) Unknown() []string { return p.base.Doubts() }

// Open reads a file that a plan names.
type Open func(name string) ([]byte, error)

// Load reads a plan for the managers and what it names, and checks everything that can be known
// before the first point is run. The error is a *strict.Error: one line that
// names file, line and field.
func Load(managers scenarios.Managers, path string) (*Plan, error) {
	data, err := scenarios.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(managers, path, data, func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), name)
		}
		return scenarios.ReadFile(name)
	})
}

// Parse is Load for text that was read already; file is its name in messages.
func Parse(managers scenarios.Managers, file string, data []byte, open Open) (*Plan, error) {
	sheet, err := managers.ReadSheet(file, data, Kind)
	if err != nil {
		return nil, err
	}
	p := &Plan{File: file, sheet: sheet, text: data}
	if err := sheet.Decode(&p.Doc); err != nil {
		return nil, err
	}
	for _, step := range []func() error{p.asked, p.known, func() error { return p.read(open) }, p.cells, p.sensible, p.size} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// read finds the cluster: the scenario that spec.from names, the one in the file
// itself, or the file's manifests.
func (p *Plan) read(open Open) (err error) {
	spec := &p.Doc.Spec
	inner := p.sheet.Has(scenarios.Kind)
	switch {
	case spec.From == "" && !inner:
		return p.manifests()
	case inner && spec.From != "":
		return p.sheet.Fail("there is a Scenario in this file as well: remove one of the two", "spec", "from")
	case inner:
		p.base, err = p.sheet.Inner()
	default:
		if e := p.sheet.Manifest("the cluster is that of " + spec.From + " (spec.from): remove this document, or from"); e != nil {
			return e
		}
		if p.from, err = open(spec.From); err != nil {
			return p.sheet.Fail(unnamed(err), "spec", "from")
		}
		name := spec.From
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(p.File), name)
		}
		if !scenario.Match(p.from) {
			return p.sheet.Fail(fmt.Sprintf("%s is not a scenario; ipamsim import converts a dump to one", spec.From), "spec", "from")
		}
		p.base, err = p.sheet.Managers().Parse(name, p.from)
	}
	if err != nil {
		return err
	}
	if err := p.managed(); err != nil {
		return err
	}
	return p.fabric()
}

// scenario matches the kind of every scenario. Of a file without it nothing is quoted in errors: a
// plan may come from another user and name a file that is not theirs.
var scenario = regexp.MustCompile(`(?m)(^|[{,\s])["']?kind["']?\s*:\s*["']?` + scenarios.Kind + `\b`)

// unnamed is an error without the name of the file, which the field has.
func unnamed(err error) string {
	var e *strict.Error
	if errors.As(err, &e) && e.Line == 0 {
		return e.Problem
	}
	return err.Error()
}

// manifests makes the cluster of the file's own documents.
func (p *Plan) manifests() (err error) {
	spec := p.Doc.Spec
	if spec.IPAM == "" {
		return p.sheet.Fail("missing, want "+strings.Join(planned(p.sheet.Managers()).Names(), " or ")+", or from: a scenario", "spec", "ipam")
	}
	d := scenarios.Document{APIVersion: scenarios.APIVersion, Kind: scenarios.Kind, Metadata: scenarios.Metadata{Name: p.Name()}}
	d.Spec.Title, d.Spec.IPAM, d.Spec.Datastore = spec.Title, spec.IPAM, spec.Datastore
	if p.base, err = p.sheet.Around(d); err != nil {
		return err
	}
	if err := p.managed(); err != nil {
		return err
	}
	return p.fabric()
}

// Pack is the plan as one text that needs no other file, for a process on another
// machine: Parse of it has the same cells and points. Engine and repeats are those
// of Doc, so that what the command line said is in it.
func (p *Plan) Pack() ([]byte, error) {
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	for _, text := range [][]byte{p.text, p.from} {
		for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
			var n yaml.Node
			err := d.Decode(&n)
			if errors.Is(err, io.EOF) {
				break
			}
			if spec := specOf(&n); spec != nil {
				remove(spec, "from")
				put(spec, "engine", p.Doc.Spec.Engine)
				put(spec, "repeats", fmt.Sprint(p.Doc.Spec.Repeats))
			}
			if err == nil {
				err = e.Encode(&n)
			}
			if err != nil {
				return nil, fmt.Errorf("plan %s: %w", p.Name(), err)
			}
		}
	}
	if err := e.Close(); err != nil {
		return nil, fmt.Errorf("plan %s: %w", p.Name(), err)
	}
	_, err := Parse(p.sheet.Managers(), p.File, out.Bytes(), func(string) ([]byte, error) { return nil, os.ErrNotExist })
	return out.Bytes(), err
}

// specOf is spec of a Plan document, or nil.
func specOf(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.DocumentNode || len(n.Content) != 1 {
		return nil
	}
	root := n.Content[0]
	if kind := strict.Child(root, "kind"); kind == nil || kind.Value != Kind {
		return nil
	}
	return strict.Child(root, "spec")
}

func remove(n *yaml.Node, key string) {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content = slices.Delete(n.Content, i, i+2)
			return
		}
	}
}

func put(n *yaml.Node, key, text string) {
	if n.Kind != yaml.MappingNode {
		return
	}
	remove(n, key)
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, &yaml.Node{Kind: yaml.ScalarNode, Value: text})
}
