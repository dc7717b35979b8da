package dump

import (
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/decode"
)

// chosen returns the managers of a scenario: those found that serve pods, else the first one found; if
// none is found and pods are in conflict, those that are Bare.
func (c *Cluster) chosen(o Options) []*reading {
	found := slices.DeleteFunc(slices.Clone(c.readings), func(r *reading) bool { return !r.Found() })
	if o.beside() {
		return slices.DeleteFunc(found, func(r *reading) bool { return r.manager.Name != o.of })
	}
	of := slices.DeleteFunc(slices.Clone(found), func(r *reading) bool { return r.importer.Apart })
	if first := slices.DeleteFunc(slices.Clone(of), func(r *reading) bool { return r.importer.Last }); len(first) > 0 {
		of = first
	}
	switch {
	case len(of) == 0 && len(found) > 0:
		return found[:1]
	case len(of) == 0 && len(c.reported) > 0:
		return slices.DeleteFunc(slices.Clone(c.readings), func(r *reading) bool { return !r.importer.Bare })
	}
	return of
}

// addApart makes the scenarios of the managers that the one of the report is not of.
func (c *Cluster) addApart(o Options, report *Report) {
	for _, r := range c.readings {
		there := slices.ContainsFunc(report.Managers, func(m Manager) bool { return m.Name == r.manager.Name })
		if there || r.importer.Last || !r.Found() {
			continue
		}
		o.of = r.manager.Name
		s, its, err := c.apart(o)
		if err != nil {
			report.Managers = append(report.Managers, Manager{Name: r.manager.Name, Title: r.importer.Title})
			report.Unjudged = append(report.Unjudged, scenarios.Unjudged{What: r.importer.Judged, Without: []string{"a scenario"}, Pools: []string{r.importer.Title}})
			report.Unknown = append(report.Unknown, r.importer.Title+": "+decode.OneLine(err))
			continue
		}
		report.add(s, its)
	}
}

// apart is the scenario of one manager beside that of others.
func (c *Cluster) apart(o Options) (*scenarios.Scenario, *Report, error) {
	text, report, err := c.scenario(o)
	if err != nil {
		return nil, nil, err
	}
	s, err := scenarios.Managers(c.managers).Parse("the imported scenario", text)
	if err != nil {
		return nil, nil, report.Trace(err)
	}
	return s, report, nil
}

// add takes over what the report of a scenario beside this one says.
func (r *Report) add(s *scenarios.Scenario, its *Report) {
	r.Apart = append(r.Apart, s)
	r.Managers = append(r.Managers, its.Managers...)
	r.Unjudged = append(r.Unjudged, its.Unjudged...)
	r.Unknown, r.Left = union(r.Unknown, its.Unknown), union(r.Left, its.Left)
	r.Index.Add(&its.Index)
}

// union is a with what it lacks of b.
func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// Check returns the command of a manager that confirms a violation; "" if there is none.
func (c *Cluster) Check(v *model.Violation) string {
	for _, r := range c.readings {
		if r.importer.Check != nil && (r.Draft == nil || r.Found()) {
			if line := r.importer.Check(v); line != "" {
				return strings.TrimSpace(line)
			}
		}
	}
	return ""
}

// Balancers are how many managers of the dump assign addresses of Services of type LoadBalancer.
func (c *Cluster) Balancers() int {
	return len(slices.DeleteFunc(slices.Clone(c.readings), func(r *reading) bool { return !r.importer.Balances || !r.Found() }))
}

// PodRanges are the ranges that hold the podCIDRs of nodes; see Reading.PodRanges.
func (c *Cluster) PodRanges() (out []netip.Prefix) {
	for _, r := range c.readings {
		if r.PodRanges != nil {
			out = append(out, r.PodRanges()...)
		}
	}
	return out
}

// Found is what importers found wrong by themselves, in the scenario that was made last.
func (c *Cluster) Found() []Found { return c.found }

// Words is a violation in a manager's words, "" if it has none. covered: another finding reports it.
func (c *Cluster) Words(v *model.Violation) (words string, covered bool) {
	for _, r := range c.readings {
		if r.Words != nil && c.judged[r.manager.Name] && words == "" && !covered {
			words, covered = r.Words(v)
		}
	}
	return words, covered
}
