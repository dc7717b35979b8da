package dump

import (
	"slices"

	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/reported"
	"ipamsim/scenarios/dump/unsupported"
)

// unjudged is what cannot be judged for lack of objects, in the order of resources.
func (d *Draft) unjudged() []scenarios.Unjudged {
	var out []scenarios.Unjudged
	for i := range d.resources {
		r := &d.resources[i]
		what := d.needs(r)
		if len(what) == 0 {
			continue
		}
		if k := slices.IndexFunc(out, func(u scenarios.Unjudged) bool { return slices.Equal(u.What, what) }); k >= 0 {
			out[k].Without = append(out[k].Without, r.Name())
		} else {
			out = append(out, scenarios.Unjudged{What: what, Without: []string{r.Name()}})
		}
	}
	for _, u := range []*scenarios.Unjudged{d.incomplete(), d.ownerless()} {
		if u != nil {
			out = append(out, *u)
		}
	}
	for _, r := range d.present {
		if r.record.Unjudged != nil {
			out = append(out, r.record.Unjudged()...)
		}
	}
	for _, r := range d.readings {
		if r.Doubts != nil && !d.Options.beside() && (!r.Found() || r.importer.Last && !slices.Contains(d.present, r)) {
			out = append(out, r.Doubts(d)...)
		}
	}
	return slices.Concat(out, d.partly, unsupported.Managers(d.ignored))
}

// needs are the invariants that cannot be judged without a resource, sorted.
func (d *Draft) needs(x *Resource) []string {
	if d.Saw(x.Name()) {
		return nil
	}
	return d.hang(x)
}

// hang are the invariants that hang on a resource, sorted.
func (d *Draft) hang(x *Resource) []string {
	var out []string
	if x.Name() == "pods" && d.apart && !d.Options.beside() { // they are compared with each other
		out = append(out, reported.OfPods...)
	}
	for _, r := range d.present {
		if r.record.Needs != nil {
			out = append(out, r.record.Needs(x)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ownerless reports that the dump does not show which pods are recreated; nil if it does.
func (d *Draft) ownerless() *scenarios.Unjudged {
	if len(d.Pods) == 0 || d.apart {
		return nil
	}
	for _, p := range d.Pods {
		if p.Value.Owner != (kept.Owner{}) {
			return nil
		}
	}
	u := &scenarios.Unjudged{What: []string{scenarios.Recreation}}
	for _, name := range []string{"daemonsets.apps", "deployments.apps", "statefulsets.apps", "jobs.batch"} {
		if d.Saw(name) {
			return nil
		}
		u.Without = append(u.Without, name)
	}
	return u
}

// Unjudged is what cannot be judged for lack of objects, by the scenario that was made
// last.
func (c *Cluster) Unjudged() []scenarios.Unjudged { return c.unjudged }
