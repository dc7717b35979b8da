package strict

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Schema is a JSON Schema in which values are put for what stands in their places, each
// by its JSON text, indented.
func Schema(text []byte, values map[string]any) ([]byte, error) {
	var plain, out bytes.Buffer
	if err := json.Compact(&plain, text); err != nil {
		return nil, err
	}
	b := plain.Bytes()
	for _, place := range slices.Sorted(maps.Keys(values)) {
		v, err := json.Marshal(values[place])
		if err != nil {
			return nil, err
		}
		b = bytes.ReplaceAll(b, []byte(place), v)
	}
	err := json.Indent(&out, b, "", "  ")
	return out.Bytes(), err
}
