//go:build calico330

package record

import apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"

// selective: up to 3.30 a pool is for all namespaces.
func selective(*apiv3.IPPool) bool { return false }
