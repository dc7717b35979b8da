package scenarios

import (
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios/strict"
)

// foundMax bounds the violations of an import: see diagnosis.WriteFound.
const foundMax = 200_000

// found checks that what was wrong in an imported cluster can be.
func (l *loader) found(c *check) {
	in := &l.s.Doc.Spec.Import
	c.bad(len(in.Violations) > foundMax, at("spec", "import", "violations"), "%d violations, want at most %d", len(in.Violations), foundMax)
	first := make(map[string]int, len(in.Violations))
	for i := range in.Violations {
		v, p := &in.Violations[i], at("spec", "import", "violations", i)
		c.must(badInvariant(v.Invariant), p.Then("invariant"))
		c.must(badCode(v), p.Then("code"))
		c.bad(len(v.Objects) == 0, p.Then("objects"), "names nothing: want what it is about, e.g. \"address 10.0.0.1\"")
		for j, o := range v.Objects {
			c.must(badRef(o), p.Then("objects").Then(j))
		}
		if c.err != nil {
			return
		}
		key := v.String()
		n, twice := first[key]
		c.bad(twice, p, "is entry %d again", n)
		first[key] = i
	}
}

// badCode describes an invalid code of a violation; "" if it is valid.
func badCode(v *model.Identity) string {
	inv, ok := invariant.Named(v.Invariant)
	if v.Code == "" || !ok {
		return ""
	}
	var codes []string
	for _, k := range inv.Kinds {
		if k.Code != "" {
			codes = append(codes, k.Code)
		}
	}
	switch {
	case slices.Contains(codes, v.Code):
		return ""
	case len(codes) == 0:
		return v.Invariant + " breaks in one way only: leave the code out"
	}
	return strict.Quote(v.Code) + " is no code of " + v.Invariant + ", " + strict.Want(v.Code, codes)
}

// badRef describes an invalid object of a violation; "" if it is valid.
func badRef(r model.Ref) string {
	var kinds []string
	for _, k := range model.RefKinds() {
		kinds = append(kinds, string(k))
	}
	switch {
	case !slices.Contains(kinds, string(r.Kind)):
		return strict.Quote(string(r.Kind)) + " is no kind of object, " + strict.Want(string(r.Kind), kinds)
	case strings.TrimSpace(r.Name) == "":
		return "names no " + string(r.Kind)
	}
	return ""
}
