package plan

import (
	_ "embed"
	"slices"
)

// schema is written by TestSchema from the types, their comments and the table of
// settings (make golden), for editors and for ipamsim schema plan.
//
//go:embed schema.json
var schema []byte

// Schema is the JSON Schema of the Plan document, draft 2020-12. Loading checks
// more: what one setting means for another, and for the manifests.
func Schema() []byte { return slices.Clone(schema) }
