package scenarios

import (
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"ipamsim/scenarios/strict"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/ipam"
)

// Load reads a scenario file and checks everything that can be known before the
// first step. The error is an *Error: one line that names file, line and field.
//
// What only the API server can judge of a manifest (a selector that does not
// match its template) comes when a run stores it: see Refused.
func (m Managers) Load(path string) (*Scenario, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return m.Parse(path, data)
}

// Parse is Load for text that was read already; file is its name in messages.
func (m Managers) Parse(file string, data []byte) (*Scenario, error) {
	if len(data) > strict.FileMax {
		return m.parseLarge(file, data)
	}
	roots, err := read(file, data, Kind)
	if err != nil {
		return nil, err
	}
	return m.parse(file, roots)
}

// parse is Parse for documents.
func (m Managers) parse(file string, roots []*yaml.Node) (*Scenario, error) {
	l := &loader{s: &Scenario{File: file, managers: m, docs: map[identity]*strict.Doc{}}, nodes: map[string]bool{}, arrives: map[string]time.Duration{}}
	return l.load(file, roots, func() error { return l.manifests(file, roots) })
}

// load reads the Scenario, which is one of the roots, then the manifests.
func (l *loader) load(file string, roots []*yaml.Node, manifests func() error) (*Scenario, error) {
	steps := []func() error{
		func() error { return l.scenario(file, roots) },
		l.manager,
		l.machines,
		manifests,
		l.networks,
		l.attachments,
		l.spec,
		l.timeline,
		l.placed,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	l.sortTimeline()
	l.s.doc = l.doc
	return l.s, nil
}

// loader is one file on its way to a Scenario.
type loader struct {
	s        *Scenario
	doc      *strict.Doc // the Scenario document
	ipam     *ipam.Manager
	kinds    map[string]kind
	nodes    map[string]bool          // every node there will ever be
	arrives  map[string]time.Duration // when those of them come that are not there from the start
	nets     map[string]bool          // every NetworkAttachmentDefinition; true: one of the manager's
	unranged map[string]error         // networks without a range, by key: what is wrong
	large    bool                     // of what there may be many of, only the line is kept
	base     int                      // how many lines of the file are before those that are read now
}

// path leads to a value inside a document, and at makes one.
type path = strict.Path

func at(steps ...any) path { return steps }

// identity is what there can be one of.
type identity struct{ kind, namespace, name string }

func (id identity) String() string {
	if id.namespace == "" {
		return id.kind + " " + id.name
	}
	return id.kind + " " + id.namespace + "/" + id.name
}

// scenario finds the one Scenario document and decodes it.
func (l *loader) scenario(file string, roots []*yaml.Node) (err error) {
	if l.doc, _, err = only(file, roots, Kind); err != nil {
		return err
	}
	_, l.doc.Recorded = strict.Locate(l.doc.Root, at("spec", "schedule"))
	return l.doc.Decode(l.doc.Root, &l.s.Doc, nil)
}

// manager finds the address manager the scenario names, and what it serves.
func (l *loader) manager() error {
	name := l.s.Doc.Spec.IPAM
	if l.ipam = l.s.Manager(); l.ipam == nil {
		return l.doc.FailAt(at("spec", "ipam"), "%s is not known, %s", strict.Quote(name), strict.Want(name, l.s.managers.Names()))
	}
	var err error
	if l.kinds, err = kindsOf(l.ipam); err != nil {
		return l.doc.FailAt(at("spec", "ipam"), "%s", strict.OneLine(err))
	}
	return nil
}

// machines makes the Node objects of spec.nodes.
func (l *loader) machines() error {
	if n := len(l.s.Doc.Spec.Nodes); n > nodesMax {
		return l.doc.FailAt(at("spec", "nodes"), "%d nodes, want at most %d", n, nodesMax)
	}
	for i, name := range l.s.Doc.Spec.Nodes {
		p := at("spec", "nodes", i)
		if problem := badName(name); problem != "" {
			return l.doc.FailAt(p, "%s", problem)
		}
		id := identity{kind: "Node", name: name}
		if l.nodes[name] {
			return l.doc.FailAt(p, "node %s is listed twice", name)
		}
		l.nodes[name] = true
		l.s.docs[id] = &strict.Doc{File: l.doc.File, Root: l.doc.Node(p), Object: id.String()}
		l.s.Objects = append(l.s.Objects, cluster.Object{Kind: "Node", Name: name, Body: kubeapi.NodeManifest(name, nil)})
	}
	return nil
}

// sortTimeline puts the timeline into order; entries of one time stay as written.
func (l *loader) sortTimeline() {
	slices.SortStableFunc(l.s.Doc.Spec.Timeline, func(a, b Event) int { return int(a.At.Duration - b.At.Duration) })
}

func names[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// guard calls an external parser on a user's text. A panic counts as an error.
func guard(parse func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("upstream's parser panics: %v", v)
		}
	}()
	return parse()
}
