package plan_test

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v3"

	"ipamsim/cmd/managers"
	"ipamsim/reports/golden"
	"ipamsim/reports/golden/testfiles"
	"ipamsim/scenarios/plan"
	"ipamsim/scenarios/plan/values"
)

// TestSchema: the schema is that of the types.
func TestSchema(t *testing.T) {
	golden.Check(t, "schema.json", string(generate(t)))
}

func generate(t *testing.T) []byte {
	t.Helper()
	settings := &jsonschema.Schema{Type: "object", AdditionalProperties: jsonschema.FalseSchema, Properties: jsonschema.NewProperties()}
	settings.Properties.Set("SETTING", jsonschema.TrueSchema)
	r := jsonschema.Reflector{
		Anonymous: true, DoNotReference: true, ExpandedStruct: true, RequiredFromJSONSchemaTags: true,
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			switch t {
			case reflect.TypeFor[values.Span]():
				return &jsonschema.Schema{Type: "string", Pattern: `^([0-9]+(\.[0-9]+)?d)?([0-9]+(\.[0-9]+)?(h|m|s|ms|us|ns))*$`, Examples: []any{"30d"}}
			case reflect.TypeFor[plan.Settings]():
				return settings
			}
			return nil
		},
	}
	for base, dir := range map[string]string{"ipamsim/scenarios/plan": ".", "ipamsim/model/route": "../../model/route"} {
		if err := r.AddGoComments(base, dir, jsonschema.WithFullComment()); err != nil {
			t.Fatal(err)
		}
	}
	s := r.Reflect(&plan.Document{})
	s.Title = "ipamsim Plan"
	in, _ := s.Properties.Get("spec")
	axes, _ := in.Properties.Get("axes")
	name, _ := axes.Items.Properties.Get("setting")
	name.Enum = []any{"SETTING"}
	ipam, _ := in.Properties.Get("ipam")
	ipam.Enum = []any{"MANAGER"}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

// TestSchemaJudges: what loads is valid, and an editor underlines the plain mistakes.
func TestSchemaJudges(t *testing.T) {
	text, err := plan.Schema(managers.All())
	if err != nil {
		t.Fatal(err)
	}
	v, err := testfiles.Schema(text)
	if err != nil {
		t.Fatal(err)
	}
	judge := func(file string) bool {
		data, err := testfiles.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := yaml.NewDecoder(strings.NewReader(string(data))).Decode(&doc); err != nil {
			t.Fatal(file, err)
		}
		return v.Validate(doc) == nil
	}
	for _, name := range goods(t) {
		if !judge(filepath.Join("testdata", "good", name+".yaml")) {
			t.Errorf("%s is not valid by the schema", name)
		}
	}
	for _, name := range []string{"setting-unknown", "setting-type", "setting-range", "axis-unknown", "horizon-words", "horizon-number", "field-unknown", "engine", "option-setting", "fabric", "horizon-missing", "manager-unknown"} {
		if judge(filepath.Join("testdata", "bad", name+".yaml")) {
			t.Errorf("%s is valid by the schema", name)
		}
	}
}
