package scenarios

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"ipamsim/model"
	"ipamsim/scenarios/strict"
	"ipamsim/sim/cluster"
	"ipamsim/sim/ipam"
)

// Sheet is a file with another document than a Scenario, for instance a Plan. It is read as strictly,
// and its errors are reported in the same way.
type Sheet struct {
	doc      *strict.Doc
	rest     []*yaml.Node // the other documents
	managers Managers
}

// Managers are those among which the file was read.
func (s *Sheet) Managers() Managers { return s.managers }

// ReadSheet finds the one document of a kind in a file. The error is an *strict.Error.
func (m Managers) ReadSheet(file string, data []byte, kind string) (*Sheet, error) {
	roots, err := read(file, data, kind)
	if err != nil {
		return nil, err
	}
	s := &Sheet{managers: m}
	s.doc, s.rest, err = only(file, roots, kind)
	return s, err
}

// only finds the one document of a kind, and the others.
func only(file string, roots []*yaml.Node, kind string) (one *strict.Doc, rest []*yaml.Node, err error) {
	for _, r := range roots {
		d := &strict.Doc{File: file, Root: r}
		switch {
		case r.Kind != yaml.MappingNode:
			return nil, nil, d.Fail(r, nil, "want a document with apiVersion and kind, not %s", strict.Describe(r))
		case strict.Text(r, "kind") != kind:
			rest = append(rest, r)
		case one != nil:
			return nil, nil, d.FailAt(at("kind"), "a second %s, the first begins in line %d; one file is one %s", kind, one.Root.Line, strings.ToLower(kind))
		default:
			one = d
		}
	}
	if one == nil {
		return nil, nil, noneOf(file, roots, kind)
	}
	return one, rest, nil
}

// Decode reads the document into a value of its type.
func (s *Sheet) Decode(into any) error { return s.doc.Decode(s.doc.Root, into, nil) }

// Fail is a mistake at the value under these keys (string) and indices (int), or at
// what there is of it.
func (s *Sheet) Fail(problem string, steps ...any) *strict.Error {
	return s.doc.FailAt(steps, "%s", problem)
}

// Text is the scalar at a path as the file has it, or "".
func (s *Sheet) Text(steps ...any) string { return strict.Text(s.doc.Root, steps...) }

// Manifest is the mistake in the line where the first document begins that is not
// the sheet's own; nil if there is none.
func (s *Sheet) Manifest(problem string) *strict.Error {
	if len(s.rest) == 0 {
		return nil
	}
	d := &strict.Doc{File: s.doc.File, Root: s.rest[0]}
	return d.Fail(d.Root, nil, "%s", problem)
}

// Has reports whether the file has a document of another kind.
func (s *Sheet) Has(kind string) bool {
	return slices.ContainsFunc(s.rest, func(r *yaml.Node) bool { return strict.Text(r, "kind") == kind })
}

// Inner is the scenario that the other documents of the file are.
func (s *Sheet) Inner() (*Scenario, error) { return s.managers.parse(s.doc.File, s.rest) }

// Around is a scenario of the other documents of the file as manifests, and of a
// document that is made: where that is wrong, so is the field of the sheet with
// the same path.
func (s *Sheet) Around(d Document) (*Scenario, error) {
	l := &loader{s: &Scenario{File: s.doc.File, Doc: d, managers: s.managers, docs: map[identity]*strict.Doc{}}, nodes: map[string]bool{}, doc: s.doc}
	steps := []func() error{
		l.manager,
		l.machines,
		func() error { return l.manifests(s.doc.File, s.rest) },
		func() error {
			if s.Has(attachmentKind) || l.ipam.Primary != nil {
				return l.networks()
			}
			return nil // the network is going to be made: see With
		},
		l.attachments,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	c := &check{doc: l.doc}
	l.datastore(c)
	l.s.doc = l.doc
	return l.s, c.err
}

// With is a scenario that was made out of this one: another document around other
// manifests. The manager's own validation judges the manifests. The error is an
// *Error without a line.
func (s *Scenario) With(d Document, objects []cluster.Object) (*Scenario, error) {
	out := &Scenario{File: s.File, Doc: d, Objects: objects, managers: s.managers}
	m := out.Manager()
	if m == nil {
		return nil, &strict.Error{File: s.File, Field: "spec.ipam", Problem: strict.Quote(d.Spec.IPAM) + " is not an address manager"}
	}
	for _, o := range objects {
		if o.Kind != attachmentKind {
			continue
		}
		n, ours, err := attachment(m, o, objects)
		if err != nil {
			return nil, s.blame(err, &strict.Error{Object: o.Kind + " " + o.Namespace + "/" + o.Name, Field: "spec.config"})
		}
		if ours {
			out.Networks = append(out.Networks, n)
		}
	}
	if m.Primary == nil {
		return out, nil
	}
	n, err := primaryOf(m, objects)
	if errors.Is(err, ipam.ErrNoPrimary) && len(out.Networks) > 0 {
		return out, nil
	}
	if err != nil {
		return nil, s.blame(err, &strict.Error{})
	}
	out.Networks, out.Primary = append(out.Networks, n), n.Key
	return out, nil
}

// blame adds a position to a manager's error about manifests: that of the object that it names, else place.
func (s *Scenario) blame(err error, place *strict.Error) error {
	var bad *ipam.ObjectError
	if errors.As(err, &bad) {
		err, place.Object, place.Field = bad.Err, bad.Object.Kind+" "+bad.Object.Name, bad.Field
	}
	place.File, place.Problem = s.File, strict.OneLine(err)
	return place
}

// primaryOf is the network that every pod gets by these manifests.
func primaryOf(m *ipam.Manager, objects []cluster.Object) (n cluster.Network, err error) {
	err = guard(func() (err error) {
		n.Network, n.Config, err = m.Primary(objects)
		return err
	})
	return n, err
}

// attachment is the network of a NetworkAttachmentDefinition; ours is false if it
// is not the manager's.
func attachment(m *ipam.Manager, o cluster.Object, all []cluster.Object) (n cluster.Network, ours bool, err error) {
	var body struct {
		Spec struct{ Config string } `json:"spec"`
	}
	if err := json.Unmarshal(o.Body, &body); err != nil {
		return n, false, err
	}
	if strings.TrimSpace(body.Spec.Config) == "" {
		return n, false, nil
	}
	n.Config = json.RawMessage(body.Spec.Config)
	n.Network, ours, err = policyOf(m, o.Namespace+"/"+o.Name, n.Config, all)
	return n, ours, err
}

// policyOf lets the manager read the policy from a network's configuration, and from the objects that it
// names. An error about such an object is an *ipam.ObjectError.
func policyOf(m *ipam.Manager, key string, config json.RawMessage, objects []cluster.Object) (n model.Network, ours bool, err error) {
	if m.Network == nil {
		return n, false, nil
	}
	err = guard(func() (err error) {
		if n, ours, err = m.Network(key, config); err == nil && ours && m.Policy != nil {
			n, err = m.Policy(n, config, objects)
		}
		return err
	})
	if err == nil && ours {
		err = inside(n)
	}
	var object *ipam.ObjectError
	if err == nil || errors.Is(err, errNoRange) || errors.As(err, &object) {
		return n, ours, err
	}
	problem, _, _ := strings.Cut(strict.OneLine(err), " / bytes: ") // Whereabouts repeats the whole configuration
	for _, prefix := range []string{m.Name + ": ", key + ": "} {    // the line says so already
		problem = strings.TrimPrefix(problem, prefix)
	}
	return n, ours, fmt.Errorf("%s", cmp.Or(problem, "refused"))
}
