package scenarios

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"ipamsim/model/metric"
	"ipamsim/scenarios/strict"
	"ipamsim/sim/ipam"
)

// primary reads the network that every pod gets, and lets the manager's own
// validation judge the manifests it is made of.
func (l *loader) primary() error {
	n, err := primaryOf(l.ipam, l.s.Objects)
	if errors.Is(err, ipam.ErrNoPrimary) && len(l.s.Networks) > 0 {
		return nil
	}
	if err := l.blame(err); err != nil {
		return err
	}
	l.s.Networks = append(l.s.Networks, n)
	l.s.Primary = n.Key
	return l.plugins(n.Config, l.configured)
}

// blame finds the place of what the manager says is wrong.
func (l *loader) blame(err error) error {
	var bad *ipam.ObjectError
	switch {
	case errors.As(err, &bad):
		d := l.s.docs[identity{bad.Object.Kind, bad.Object.Namespace, bad.Object.Name}]
		if d == nil {
			d = l.doc
		}
		return d.FailAt(strict.ParsePath(bad.Field), "%s", strict.OneLine(bad.Err))
	case err != nil:
		return l.doc.FailAt(at("spec", "ipam"), "%s", strings.TrimPrefix(strict.OneLine(err), l.ipam.Name+": "))
	}
	return nil
}

// datastore checks the manager's choice of where to keep its record.
func (l *loader) datastore(c *check) {
	name := l.s.Doc.Spec.Datastore
	if name == "" {
		return
	}
	known := l.ipam.Datastores
	c.bad(len(known) == 0, at("spec", "datastore"), "%s keeps its record in the Kubernetes API, remove it", l.ipam.Name)
	if len(known) > 0 {
		c.bad(!slices.Contains(known, name), at("spec", "datastore"), "%s is no datastore, %s", strict.Quote(name), strict.Want(name, known))
	}
}

// fabric checks the network between the nodes.
func (l *loader) fabric(c *check) {
	f := &l.s.Doc.Spec.Fabric
	if reflect.ValueOf(*f).IsZero() {
		return
	}
	p := at("spec", "fabric")
	c.bad(l.s.Primary == "", p, "the networks of %s announce no routes, remove it", l.ipam.Name)
	if field, problem := f.Check(names(l.nodes)); problem != "" {
		c.bad(true, append(p[:len(p):len(p)], strict.ParsePath(field)...), "%s", problem)
	}
}

// metrics checks what is to be measured.
func (l *loader) metrics(c *check) {
	m, p := l.s.Doc.Spec.Metrics, at("spec", "metrics")
	c.bad(len(m.Show) > 0 && m.Every.Duration == 0, p.Then("every"), "missing: how often to measure, e.g. 1m")
	var known []string
	for _, f := range metric.Families() {
		known = append(known, f.Name)
	}
	c.once(m.Show, p.Then("show"))
	for i, name := range m.Show {
		c.bad(!slices.Contains(known, name), p.Then("show").Then(i), "%s is no metric, %s", strict.Quote(name), strict.Want(name, known))
	}
}

// Datastores are where the scenario's manager can keep its record, the default
// first; none if it has no choice.
func (s *Scenario) Datastores() []string {
	if m := s.Manager(); m != nil {
		return m.Datastores
	}
	return nil
}

// datastore is the one a run uses.
func (s *Scenario) datastore(o Options) string {
	all := s.Datastores()
	switch {
	case len(all) == 0:
		return ""
	case o.Datastore != "":
		return o.Datastore
	case s.Doc.Spec.Datastore != "":
		return s.Doc.Spec.Datastore
	}
	return all[0]
}
