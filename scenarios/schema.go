package scenarios

import (
	_ "embed"

	"ipamsim/scenarios/strict"
)

// schema is written by TestSchema from the types and their comments (make
// golden). It is a file, so that the comments, which are not in a binary, are in
// it, and so that an editor can be pointed at it.
//
//go:embed schema.json
var schema []byte

// Schema is the JSON Schema of the Scenario document, draft 2020-12, for these managers.
// Loading checks more: names that must exist, and what one field means for another.
func (m Managers) Schema() ([]byte, error) {
	var names []string
	for _, x := range m {
		names = append(names, x.Name)
	}
	return strict.Schema(schema, map[string]any{`["MANAGER"]`: names})
}
