package kube

import (
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/json"
	fielderrors "k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateCustom checks an object by the schema of its custom resource, with the defaults of
// that filled in, as an API server does that is asked to create it.
//
// It returns an error if the schema or the object cannot be read.
func ValidateCustom(crd *apiextv1.CustomResourceDefinition, body []byte) (fielderrors.ErrorList, error) {
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
	var object map[string]any
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, err
	}
	defaulting.Default(object, structural)
	return validation.ValidateCustomResource(nil, object, validator), nil
}
