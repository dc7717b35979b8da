//go:build !calico330

package record

import apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"

// selective reports whether a pool is for the pods of some namespaces only.
func selective(p *apiv3.IPPool) bool {
	const everything = "all()"
	return p.Spec.NamespaceSelector != "" && p.Spec.NamespaceSelector != everything
}
