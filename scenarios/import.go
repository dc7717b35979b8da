package scenarios

import (
	"strings"

	"ipamsim/model"
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

// unknown checks that there is something in each line.
func (l *loader) unknown(c *check) {
	for i, s := range l.s.Doc.Spec.Import.Unknown {
		c.bad(strings.TrimSpace(s) == "", at("spec", "import", "unknown", i), "is empty: want what could not be known, e.g. \"no nodes in the dump\"")
	}
}

// story is what the scenario shows, and what is not known of its cluster, for people.
func (s *Spec) story() string {
	story := s.Story
	for _, what := range s.Import.Unknown {
		story = strings.TrimPrefix(strings.TrimSuffix(story, "\n")+"\nNot known: "+what+".\n", "\n")
	}
	return story
}
