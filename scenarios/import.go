package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/scenarios/strict"
)

// Import describes a cluster that ipamsim import read.
type Import struct {
	// Unknown is what could not be known of the cluster, and what is assumed instead, a
	// line each.
	Unknown []string `json:"unknown,omitempty"`
	// Violations are the violations in the cluster when it was read, by object. A run may repeat them, and is as
	// expected if it has no others; an empty list means that there were none.
	Violations []model.Identity `json:"violations,omitzero"`
	// Unjudged is what cannot be judged of it, for lack of objects.
	Unjudged []Unjudged `json:"unjudged,omitempty"`
	// Plugins are CNI plugins of its networks that are not simulated: what they do with
	// addresses is taken to be what macvlan does.
	Plugins []string `json:"plugins,omitempty"`
	// Versions are of the programs that ran in it.
	Versions []Version `json:"versions,omitempty"`
}

// Recreation is the further question that may be unjudged, in addition to the names of invariants:
// whether a deleted pod is recreated.
const Recreation = "recreation"

// Unjudged are questions that the dump of a cluster does not answer.
type Unjudged struct {
	// What are the names of invariants, or recreation; sorted.
	What []string `json:"what" jsonschema:"required"`
	// Without are the resources that would answer, by full name, e.g. bgppeers.crd.projectcalico.org, or
	// files of a node.
	Without []string `json:"without" jsonschema:"required"`
	// Namespaces are the namespaces of the pods concerned; none: the whole cluster.
	Namespaces []string `json:"namespaces,omitempty"`
	// Pools are the networks concerned; none: all.
	Pools []string `json:"pools,omitempty"`
	// Manager is a manager whose objects, named by Without, are in the dump but not supported.
	Manager string `json:"manager,omitempty"`
	// Incomplete: the dump has objects of these resources, but may not have all. Existing objects are judged.
	Incomplete bool `json:"incomplete,omitempty"`
}

// String renders a sentence without a period.
func (u Unjudged) String() string {
	if u.Manager != "" {
		return fmt.Sprintf("cannot judge what %s assigns: its objects (%s) are not read", u.Manager, strings.Join(u.Without, ", "))
	}
	of := ""
	if all := slices.Concat(u.Namespaces, u.Pools); len(all) > 0 {
		of = " of " + strings.Join(all, ", ")
	}
	what, without := strings.Join(u.What, ", "), strings.Join(u.Without, ", ")
	if u.Incomplete {
		return fmt.Sprintf("cannot judge %s%s completely: nothing shows that the dump has all %s", what, of, without)
	}
	return fmt.Sprintf("cannot judge %s without %s%s", what, without, of)
}

// Version is that of a program in the cluster.
type Version struct {
	Program string `json:"program" jsonschema:"required"`
	Found   string `json:"found" jsonschema:"required"` // as the cluster has it, e.g. v3.26.1
}

// Beside is a sentence without its full stop: what the cluster runs, and which of the managers
// is simulated.
func (v Version) Beside(m Managers) string {
	return fmt.Sprintf("the cluster runs %s %s; the simulation uses %s", v.Program, v.Found, m.Simulated(v.Program))
}

// imported checks spec.import.
func (l *loader) imported(c *check) {
	m := l.s.Doc.Spec.Import
	for i, s := range m.Unknown {
		c.bad(strings.TrimSpace(s) == "", at("spec", "import", "unknown", i), "is empty: want what is unknown, e.g. \"no nodes in the dump\"")
	}
	for i, u := range m.Unjudged {
		p := at("spec", "import", "unjudged", i)
		c.bad(len(u.What) == 0, p.Then("what"), "is empty: want names of invariants, or %s", Recreation)
		c.bad(len(u.Without) == 0, p.Then("without"), "is empty: want resources, e.g. pods")
		for k, name := range u.What {
			if name != Recreation {
				c.must(badInvariant(name), p.Then("what").Then(k))
			}
		}
	}
	for i, v := range m.Versions {
		c.bad(l.s.managers.Find(v.Program) == nil, at("spec", "import", "versions", i, "program"), "%s is not known, %s", strict.Quote(v.Program), strict.Want(v.Program, l.s.managers.Names()))
	}
}

// Doubts are what an import could not know or judge, and which versions differ, a line
// each, for people.
func (s *Scenario) Doubts() []string {
	m := &s.Doc.Spec.Import
	var out []string
	for _, u := range m.Unjudged {
		out = append(out, u.String())
	}
	for _, v := range m.Versions {
		if v.Found != s.managers.Simulated(v.Program) {
			out = append(out, v.Beside(s.managers))
		}
	}
	for _, p := range m.Plugins {
		out = append(out, fmt.Sprintf("CNI plugin %s is not simulated: assumed to use addresses like macvlan", p))
	}
	return slices.Concat(out, m.Unknown)
}

// story is what the scenario shows, and what is not known of its cluster, for people.
func (s *Scenario) story() string {
	story := s.Doc.Spec.Story
	for _, what := range s.Doubts() {
		story = strings.TrimPrefix(strings.TrimSuffix(story, "\n")+"\nNot known: "+what+".\n", "\n")
	}
	return story
}
