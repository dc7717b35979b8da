package objects

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	cerrors "github.com/projectcalico/calico/libcalico-go/lib/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/record"
)

// Decode reads a manifest, strictly: a field that upstream's type does not have
// is a mistake, not a comment.
func Decode(k Kind, o ipam.Object) (object, error) {
	bad := func(field string, err error) error { return &ipam.ObjectError{Object: o, Field: field, Err: err} }
	m := metav1.TypeMeta{}
	if err := json.Unmarshal(o.Body, &m); err != nil {
		return nil, bad("", err)
	}
	if v := m.APIVersion; v != apiv3.GroupVersionCurrent && v != record.CrdGroup+"/v1" {
		return nil, bad("apiVersion", fmt.Errorf("%q: want %s/v1 or %s", v, record.CrdGroup, apiv3.GroupVersionCurrent))
	}
	out := k.blank()
	strict, err := kjson.UnmarshalStrict(o.Body, out)
	if err == nil && len(strict) > 0 {
		err = strict[0]
	}
	if err != nil {
		return nil, bad(unreadable(err), err)
	}
	return out, nil
}

// unreadable is the field that a decoder's error is about.
func unreadable(err error) string {
	var f kjson.FieldError
	if errors.As(err, &f) {
		return f.FieldPath()
	}
	// "json: cannot unmarshal string into Go struct field IPPoolSpec.spec.blockSize of type int":
	// the decoder's type is internal to it.
	if _, rest, ok := strings.Cut(err.Error(), "Go struct field "); ok {
		_, path, _ := strings.Cut(rest, ".")
		path, _, _ = strings.Cut(path, " ")
		return path
	}
	return ""
}

// ObjectError is an error with the object and field that upstream refused, and upstream's text.
func ObjectError(k Kind, o ipam.Object, err error) error {
	var done *ipam.ObjectError
	if err == nil || errors.As(err, &done) {
		return err
	}
	var f *record.FieldError
	var v cerrors.ErrorValidation
	switch {
	case errors.As(err, &f):
		return &ipam.ObjectError{Object: o, Field: f.Field, Err: f.Err}
	case errors.As(err, &v) && len(v.ErroredFields) > 0:
		return &ipam.ObjectError{Object: o, Field: fieldPath(k, v.ErroredFields[0].Name), Err: err}
	}
	for _, s := range settingsFields {
		if strings.Contains(err.Error(), s.says) {
			return &ipam.ObjectError{Object: o, Field: s.field, Err: err}
		}
	}
	return &ipam.ObjectError{Object: o, Err: err}
}

// settingsFields are the refusals of SetIPAMConfig, which name no field.
//
// Source: libcalico-go/lib/ipam, SetIPAMConfig; libcalico-go/lib/clientv3,
// validateMetadata (v3.31).
var settingsFields = []struct{ says, field string }{
	{"MaxBlocksPerHost requires StrictAffinity", "spec.maxBlocksPerHost"},
	{"Cannot disable 'StrictAffinity' and 'AutoAllocateBlocks'", "spec.autoAllocateBlocks"},
	{`with a name other than "default"`, "metadata.name"},
}

// fieldPath converts upstream's name of a field ("IPPool.Spec.CIDR", "IPpool.CIDR",
// "Metadata.Name", "PeerIP") to its path in a manifest; "" if the path is unknown.
func fieldPath(k Kind, name string) string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if strings.HasPrefix(name, "Metadata.") || last == "Name" {
		return "metadata." + strings.ToLower(last[:1]) + last[1:]
	}
	path, _ := jsonPath(reflect.TypeOf(k.blank()).Elem(), last, 0)
	return path
}

// jsonPath finds a field by its name in Go, breadth last: specs are shallow.
func jsonPath(t reflect.Type, name string, depth int) (string, bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || depth > 4 || t == reflect.TypeFor[metav1.ObjectMeta]() {
		return "", false
	}
	for f := range fields(t) {
		if f.key != "" && strings.EqualFold(f.Name, name) {
			return f.key, true
		}
	}
	for f := range fields(t) {
		if rest, ok := jsonPath(f.Type, name, depth+1); ok {
			return strings.TrimPrefix(f.key+"."+rest, "."), true
		}
	}
	return "", false
}

// field is a field of a struct with its key in JSON, "" if it is inlined.
type field struct {
	reflect.StructField
	key string
}

func fields(t reflect.Type) func(func(field) bool) {
	return func(yield func(field) bool) {
		for i := range t.NumField() {
			f := t.Field(i)
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && key != "-" && !yield(field{f, key}) {
				return
			}
		}
	}
}
