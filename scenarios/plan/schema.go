package plan

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"maps"

	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
)

// schema is written by TestSchema from the types and their comments (make golden), for
// editors and for ipamsim schema plan. What the managers of a program make of it stands
// in it as MANAGER and SETTING.
//
//go:embed schema.json
var schema []byte

// Schema is the JSON Schema of the Plan document, draft 2020-12, for the managers.
// Loading checks more: what one setting means for another, and for the manifests.
func Schema(managers scenarios.Managers) ([]byte, error) {
	var names []string
	var settings bytes.Buffer // an object, in the order of Known
	for _, s := range Known(managers) {
		one := maps.Clone(s.Schema)
		if one["description"] = s.Means; s.Of != "" {
			one["description"] = s.Means + " (" + s.Of + ")"
		}
		name, _ := json.Marshal(s.Name)
		text, err := json.Marshal(one)
		if err != nil {
			return nil, err
		}
		if len(names) > 0 {
			settings.WriteByte(',')
		}
		settings.Write(name)
		settings.WriteByte(':')
		settings.Write(text)
		names = append(names, s.Name)
	}
	return strict.Schema(schema, map[string]any{
		`["MANAGER"]`: planned(managers).Names(), `["SETTING"]`: names, `{"SETTING":true}`: json.RawMessage("{" + settings.String() + "}"),
	})
}
