//go:build calico332

package store

import (
	"github.com/projectcalico/calico/libcalico-go/lib/apiconfig"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/k8s/resources"
)

// crdsOnly is a configuration that names crd.projectcalico.org, as Calico's installer writes it
// for the CNI plugin. A client without it asks the API server first.
func crdsOnly(c apiconfig.CalicoAPIConfigSpec) apiconfig.CalicoAPIConfigSpec {
	c.CalicoAPIGroup = string(resources.BackingAPIGroupV1)
	return c
}
