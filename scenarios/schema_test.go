package scenarios_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/reports/golden"
	"ipamsim/reports/golden/testfiles"
	"ipamsim/scenarios"
)

var schemaFile = flag.String("schema", "", "write the schema to this file, instead of comparing it")

// TestSchema: the schema in the program is that of the types. make golden writes it.
func TestSchema(t *testing.T) {
	text := generate(t)
	if *schemaFile != "" {
		if err := os.WriteFile(*schemaFile, text, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != scenarios.SchemaText() {
		golden.Check(t, "schema.json", string(text))
	}
}

// generate reflects the types, with their comments from the source.
func generate(t *testing.T) []byte {
	t.Helper()
	r := jsonschema.Reflector{
		Anonymous: true, DoNotReference: true, ExpandedStruct: true, RequiredFromJSONSchemaTags: true,
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			switch t {
			case reflect.TypeFor[metav1.Duration]():
				return &jsonschema.Schema{Type: "string", Pattern: `^([0-9]+(\.[0-9]+)?(h|m|s|ms|us|ns))+$`, Examples: []any{"5m30s"}}
			case reflect.TypeFor[model.Ref]():
				return &jsonschema.Schema{Type: "string", Pattern: "^[a-z]+ .", Examples: []any{"address 10.0.0.1"}}
			case reflect.TypeFor[json.RawMessage]():
				return &jsonschema.Schema{Type: "object"}
			}
			return nil
		},
	}
	plain := r.Mapper
	r.Mapper = func(t reflect.Type) *jsonschema.Schema {
		if t != reflect.TypeFor[scenarios.Event]() {
			return plain(t)
		}
		entry := r
		entry.ExpandedStruct = false
		s := entry.ReflectFromType(scenarios.Event{}.Wire())
		s.Version, s.Description = "", r.CommentMap["ipamsim/scenarios.Event"]
		return s
	}
	// The folders are given as the generator is run: in this one.
	for _, dir := range []string{".", "../sim/cluster", "../model"} {
		if err := r.AddGoComments("ipamsim/scenarios", dir, jsonschema.WithFullComment()); err != nil {
			t.Fatal(err)
		}
	}
	r.LookupComment = func(t reflect.Type, name string) string {
		if t.Kind() != reflect.Struct {
			return ""
		}
		if t == (scenarios.Event{}).Wire() {
			if text := r.CommentMap["ipamsim/scenarios.Event."+name]; text != "" {
				return text
			}
		}
		f, ok := t.FieldByName(name)
		if !ok || r.CommentMap[t.PkgPath()+"."+t.Name()+"."+name] != "" {
			return ""
		}
		if t = f.Type; t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		return r.CommentMap[t.PkgPath()+"."+t.Name()] // a field without words of its own has its type's
	}
	s := r.Reflect(&scenarios.Document{})
	s.Title = "ipamsim Scenario"
	only(s, "spec", "timeline")
	spec, _ := s.Properties.Get("spec")
	manager, _ := spec.Properties.Get("ipam")
	manager.Enum = []any{"MANAGER"} // see scenarios.Schema
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

// only says of a timeline entry what the types cannot: it has one action.
func only(s *jsonschema.Schema, steps ...string) {
	for _, step := range steps {
		s, _ = s.Properties.Get(step)
	}
	for pair := s.Items.Properties.Oldest(); pair != nil; pair = pair.Next() {
		if pair.Key != "at" && pair.Key != "mayFail" {
			s.Items.OneOf = append(s.Items.OneOf, &jsonschema.Schema{Required: []string{pair.Key}})
		}
	}
}

// validator checks documents against the schema.
func validator(t *testing.T) interface{ Validate(any) error } {
	t.Helper()
	text, err := managers.All().Schema()
	if err != nil {
		t.Fatal(err)
	}
	v, err := testfiles.Schema(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// scenarioDocument is the Scenario document of a file, as any YAML parser reads it.
func scenarioDocument(t *testing.T, file string) map[string]any {
	t.Helper()
	data, err := testfiles.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range bytes.Split(data, []byte("\n---\n")) {
		var doc map[string]any
		if err := yaml.Unmarshal(part, &doc); err != nil {
			t.Fatal(err)
		}
		if doc["kind"] == scenarios.Kind {
			return doc
		}
	}
	t.Fatalf("%s has no Scenario document", file)
	return nil
}

// TestSchemaAcceptsLibrary: every scenario that loads is valid.
func TestSchemaAcceptsLibrary(t *testing.T) {
	v := validator(t)
	good, err := filepath.Glob("testdata/good/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(library(t), good...) {
		if err := v.Validate(scenarioDocument(t, file)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestSchemaRefuses: an editor with the schema underlines these.
func TestSchemaRefuses(t *testing.T) {
	v := validator(t)
	for _, file := range []string{
		"field-unknown", "field-missing", "enum-ipam", "duration-words", "duration-number",
		"timeline-two-actions", "timeline-no-action", "bool-yes", "number-quoted", "list-as-text",
	} {
		if v.Validate(scenarioDocument(t, filepath.Join("testdata", "bad", file+".yaml"))) == nil {
			t.Errorf("%s is valid by the schema", file)
		}
	}
}

// TestSchemaHasComments: people see them in their editors.
func TestSchemaHasComments(t *testing.T) {
	b, err := managers.All().Schema()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Until is the virtual time", "Crash takes a node's power away"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q", want)
		}
	}
}
