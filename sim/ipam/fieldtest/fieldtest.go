// Package fieldtest checks that an invariant covers every field of an address manager's API that
// restricts which workloads may get an address, or that the field is listed with the reason why
// none does.
package fieldtest

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"ipamsim/model/invariant"
)

// Field is a field of a type, and the invariants that judge it or why none does.
type Field struct {
	name, unjudged string
	judged         []string
}

// Judged is a field that these invariants judge.
func Judged(name string, by ...string) Field { return Field{name: name, judged: by} }

// Unjudged is a field that none judges.
func Unjudged(name, because string) Field { return Field{name: name, unjudged: because} }

// Reasons why a field is not judged.
const (
	Restricts  = "does not say who receives which address"
	Deprecated = "set by no user"
	Datapath   = "of the data path, which is not simulated"
)

// API is a type by which users define which workloads may get an address, with all its fields.
type API struct {
	Value  any
	Fields []Field
}

// Check fails for a field that is not listed, and for a row without a field, an invariant or a
// reason. A release with a new field fails here.
func Check(t *testing.T, all ...API) {
	t.Helper()
	for _, api := range all {
		api.check(t)
	}
}

func (api API) check(t *testing.T) {
	t.Helper()
	typ, has := reflect.TypeOf(api.Value), map[string]bool{}
	for _, f := range reflect.VisibleFields(typ) {
		if len(f.Index) == 1 && f.IsExported() {
			has[f.Name] = true
		}
	}
	for _, f := range api.Fields {
		if !has[f.name] {
			t.Errorf("%s has no field %s, or it is listed twice", typ, f.name)
		}
		if len(f.judged) == 0 && f.unjudged == "" {
			t.Errorf("%s.%s: neither judged nor a reason", typ, f.name)
		}
		delete(has, f.name)
		for _, name := range f.judged {
			if _, ok := invariant.Named(name); !ok {
				t.Errorf("%s.%s: no invariant %q", typ, f.name, name)
			}
		}
	}
	var missing []string
	for name := range has {
		missing = append(missing, name)
	}
	if slices.Sort(missing); len(missing) > 0 {
		t.Errorf("%s: not listed: %s", typ, strings.Join(missing, ", "))
	}
}
