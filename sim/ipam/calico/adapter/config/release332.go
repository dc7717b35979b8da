//go:build calico332

package config

import (
	"context"

	v3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
)

// writeStatus writes the status alone.
func writeStatus(ctx context.Context, c clientv3.KubeControllersConfigurationInterface, k *v3.KubeControllersConfiguration) (*v3.KubeControllersConfiguration, error) {
	return c.UpdateStatus(ctx, k, options.SetOptions{})
}

// onlyAddresses is a configuration without the controller that renames network policies, which
// no environment enables or disables.
func onlyAddresses(c RunConfig) RunConfig {
	c.Controllers.Migration = nil
	return c
}
