package testfiles

import (
	"bytes"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a JSON schema, to validate documents with. It asserts formats, URIs for instance.
func Schema(text []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("schema.json")
}
