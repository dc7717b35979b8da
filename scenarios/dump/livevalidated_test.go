package dump_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	validation "k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	batchvalidation "k8s.io/kubernetes/pkg/apis/batch/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/networking"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	networkingvalidation "k8s.io/kubernetes/pkg/apis/networking/validation"
	"k8s.io/kubernetes/pkg/apis/rbac"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	rbacvalidation "k8s.io/kubernetes/pkg/apis/rbac/validation"

	"ipamsim/cmd/managers"
	"ipamsim/scenarios/dump/live"
)

// TestCronJobIsTaken decodes, defaults and validates the manifest with the code of the API
// server, which accepts it, and rejects manifests with a mistake.
func TestCronJobIsTaken(t *testing.T) {
	for _, tt := range []struct{ name, was, is, want string }{
		{"as printed", "", "", ""},
		{"four fields of a schedule", "17 * * * *", "17 * * *", "spec.schedule"},
		{"a volume that there is not", "name: results, mountPath", "name: others, mountPath", "volumeMounts[1].name"},
		{"a name with capitals", "name: ipamsim-import\n", "name: Ipamsim\n", "metadata.name"},
		{"a field that there is not", "verbs:", "verb:", "verb"},
		{"an invalid port", "port: 6443", "port: 64430000", "egress[1].ports[1].port"},
		{"restarts forever", "restartPolicy: Never", "restartPolicy: Always", "restartPolicy"},
	} {
		text := strings.ReplaceAll(live.CronJob(managers.All(), "ipamsim:test"), tt.was, tt.is)
		if tt.was == "" {
			text = live.CronJob(managers.All(), "ipamsim:test")
		}
		switch err := taken(text); {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want one about %s", tt.name, err, tt.want)
		}
	}
}

// taken is what an API server has against a manifest of several documents.
func taken(text string) error {
	decoder := serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict).UniversalDecoder()
	docs := utilyaml.NewDocumentDecoder(io.NopCloser(strings.NewReader(text)))
	for {
		buf := make([]byte, 1<<20)
		n, err := docs.Read(buf)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		o, _, err := decoder.Decode(buf[:n], nil, nil)
		if err != nil {
			return err
		}
		if err := validated(o).ToAggregate(); err != nil {
			return err
		}
	}
}

func validated(o runtime.Object) validation.ErrorList {
	switch o := o.(type) {
	case *core.Namespace:
		return corevalidation.ValidateNamespace(o)
	case *core.ServiceAccount:
		return corevalidation.ValidateServiceAccount(o)
	case *core.ConfigMap:
		return corevalidation.ValidateConfigMap(o)
	case *core.PersistentVolumeClaim:
		return corevalidation.ValidatePersistentVolumeClaim(o, corevalidation.ValidationOptionsForPersistentVolumeClaimCreate())
	case *rbac.ClusterRole:
		return rbacvalidation.ValidateClusterRole(o, rbacvalidation.ClusterRoleValidationOptions{})
	case *rbac.ClusterRoleBinding:
		return rbacvalidation.ValidateClusterRoleBinding(o)
	case *rbac.Role:
		return rbacvalidation.ValidateRole(o)
	case *rbac.RoleBinding:
		return rbacvalidation.ValidateRoleBinding(o)
	case *networking.NetworkPolicy:
		return networkingvalidation.ValidateNetworkPolicy(o, networkingvalidation.NetworkPolicyValidationOptions{})
	case *batch.CronJob:
		return batchvalidation.ValidateCronJobCreate(o, corevalidation.PodValidationOptions{})
	}
	return validation.ErrorList{validation.Invalid(validation.NewPath("kind"), o.GetObjectKind().GroupVersionKind().Kind, "no validation for this kind")}
}
