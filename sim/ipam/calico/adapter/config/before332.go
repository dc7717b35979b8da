//go:build !calico332

package config

import (
	"context"

	v3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
)

// writeStatus writes the status; up to 3.31 it writes the whole object.
func writeStatus(ctx context.Context, c clientv3.KubeControllersConfigurationInterface, k *v3.KubeControllersConfiguration) (*v3.KubeControllersConfiguration, error) {
	return c.Update(ctx, k, options.SetOptions{})
}

// onlyAddresses is a configuration as it is: up to 3.31 the environment names all controllers.
func onlyAddresses(c RunConfig) RunConfig { return c }
