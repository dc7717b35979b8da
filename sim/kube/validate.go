package kube

import (
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/json"
	fielderrors "k8s.io/apimachinery/pkg/util/validation/field"
)

// customSchema validates the objects of a custom resource.
type customSchema struct {
	structural *schema.Structural
	validator  validation.SchemaValidator
}

// customSchemas caches schemas by definition: reading one costs more than a validation.
var customSchemas sync.Map

func customSchemaOf(crd *apiextv1.CustomResourceDefinition) (*customSchema, error) {
	if s, ok := customSchemas.Load(crd); ok {
		return s.(*customSchema), nil
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil); err != nil {
		return nil, err
	}
	structural, err := schema.NewStructural(&props)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(&props)
	if err != nil {
		return nil, err
	}
	s := &customSchema{structural, validator}
	customSchemas.Store(crd, s)
	return s, nil
}

// ValidateCustom validates an object by the schema of its custom resource, with the schema's
// defaults filled in, as an API server does for a creation.
//
// It returns an error if the schema or the object cannot be read.
func ValidateCustom(crd *apiextv1.CustomResourceDefinition, body []byte) (fielderrors.ErrorList, error) {
	s, err := customSchemaOf(crd)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, err
	}
	defaulting.Default(object, s.structural)
	return validation.ValidateCustomResource(nil, object, s.validator), nil
}
