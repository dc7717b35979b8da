package scenarios_test

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The API server's errors about a manifest are reported with the line of the field.
func TestRefused(t *testing.T) {
	s := good(t, "seed-003")
	labels := field.NewPath("spec", "template", "metadata", "labels")
	invalid := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, "web",
		field.ErrorList{field.Invalid(labels, map[string]string{"app": "nginx"}, "`selector` does not match template `labels`")})
	tests := []struct {
		kind, namespace, name string
		err                   error
		want                  string
	}{
		{"StatefulSet", "default", "web", invalid,
			"testdata/good/seed-003.yaml:39: StatefulSet default/web: spec.template.metadata.labels: the API server rejects it: " +
				"Invalid value: {\"app\":\"nginx\"}: `selector` does not match template `labels`"},
		{"StatefulSet", "default", "web", errors.New("no\nroom"),
			"testdata/good/seed-003.yaml:25: StatefulSet default/web: the API server rejects it: no room"},
		{"Node", "", "worker-2", errors.New("no"), "testdata/good/seed-003.yaml:8: Node worker-2: the API server rejects it: no"},
		{"Pod", "default", "x", errors.New("no"), "testdata/good/seed-003.yaml: Pod default/x: the API server rejects it: no"},
	}
	for _, tt := range tests {
		if got := s.Refused(tt.kind, tt.namespace, tt.name, tt.err).Error(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}
