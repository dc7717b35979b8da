package scenarios

import (
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
)

// Import is what there is to say of a cluster that ipamsim import read.
type Import struct {
	// Unknown is what could not be known of the cluster, and what is assumed instead, a
	// line each.
	Unknown []string `json:"unknown,omitempty"`
	// Violations are what was wrong in the cluster when it was read, by what each is
	// about. A run may break them again, and is as expected if it breaks nothing else;
	// an empty list says that nothing was wrong.
	Violations []model.Identity `json:"violations,omitzero"`
}

// importedMax is more than there is to say of any cluster: see dump.WriteFound.
const importedMax = 200_000

// imported checks that there is something in each line, and that what was wrong can be.
func (l *loader) imported(c *check) {
	in := &l.s.Doc.Spec.Import
	for i, s := range in.Unknown {
		c.bad(strings.TrimSpace(s) == "", at("spec", "import", "unknown", i), "is empty: want what could not be known, e.g. \"no nodes in the dump\"")
	}
	c.bad(len(in.Violations) > importedMax, at("spec", "import", "violations"), "%d violations, want at most %d", len(in.Violations), importedMax)
	first := make(map[string]int, len(in.Violations))
	for i := range in.Violations {
		v, p := &in.Violations[i], at("spec", "import", "violations", i)
		c.must(badInvariant(v.Invariant), p.then("invariant"))
		c.must(badCode(v), p.then("code"))
		c.bad(len(v.Objects) == 0, p.then("objects"), "names nothing: want what it is about, e.g. \"address 10.0.0.1\"")
		for j, o := range v.Objects {
			c.must(badRef(o), p.then("objects").then(j))
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

// badCode says what is wrong with the code of a violation, or "".
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
	return quote(v.Code) + " is no code of " + v.Invariant + ", " + want(v.Code, codes)
}

// badRef says what is wrong with a thing that a violation is about, or "".
func badRef(r model.Ref) string {
	var kinds []string
	for _, k := range model.RefKinds() {
		kinds = append(kinds, string(k))
	}
	switch {
	case !slices.Contains(kinds, string(r.Kind)):
		return quote(string(r.Kind)) + " is no kind of object, " + want(string(r.Kind), kinds)
	case strings.TrimSpace(r.Name) == "":
		return "names no " + string(r.Kind)
	}
	return ""
}

// story is what the scenario shows, and what is not known of its cluster, for people.
func (s *Spec) story() string {
	story := s.Story
	for _, what := range s.Import.Unknown {
		story = strings.TrimPrefix(strings.TrimSuffix(story, "\n")+"\nNot known: "+what+".\n", "\n")
	}
	return story
}
