// Package config is kube-controllers' configuration, read from the program's environment.
package config

import (
	"context"

	real "github.com/projectcalico/calico/kube-controllers/pkg/config"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"

	"ipamsim/sim/ipam/platform"
)

// RunConfig is upstream's.
type RunConfig = real.RunConfig

// EnvEnabledControllers is upstream's.
const EnvEnabledControllers = real.EnvEnabledControllers

// Config is upstream's.
type Config struct{ real.Config }

// Parse reads the program's environment, which only sets the datastore. All other fields have
// upstream's defaults.
//
// Source: kube-controllers/pkg/config/config.go, Config (v3.31.0).
func (c *Config) Parse() error {
	datastore := platform.Current().Getenv("DATASTORE_TYPE")
	c.Config = real.Config{LogLevel: "info", WorkloadEndpointWorkers: 1, ProfileWorkers: 1, PolicyWorkers: 1, NodeWorkers: 1, DatastoreType: datastore}
	return nil
}

// RunConfigController is upstream's, with an end.
type RunConfigController struct{ out chan RunConfig }

// NewRunConfigController starts upstream's controller and passes its configurations on until the
// program is killed. Then its channel is closed, and the program's main function, which only waits
// for a new configuration, returns.
func NewRunConfigController(ctx context.Context, c Config, client clientv3.KubeControllersConfigurationInterface) *RunConfigController {
	r := &RunConfigController{out: make(chan RunConfig)}
	var from <-chan RunConfig
	if platform.Current().Getenv(EnvEnabledControllers) == theProcess {
		from = real.NewRunConfigController(ctx, c.Config, client).ConfigChan()
	} else {
		from = follow(ctx, c.Config, client)
	}
	go r.handOn(platform.Current().Ctx.Done(), from)
	return r
}

// theProcess is the set of controllers that the environment of the whole process enables, which
// upstream reads.
const theProcess = "node"

func (r *RunConfigController) handOn(killed <-chan struct{}, from <-chan RunConfig) {
	defer close(r.out)
	for {
		select {
		case c := <-from:
			select {
			case r.out <- onlyAddresses(c):
			case <-killed:
				return
			}
		case <-killed:
			return
		}
	}
}

// ConfigChan has the configurations of upstream's controller.
func (r *RunConfigController) ConfigChan() <-chan RunConfig { return r.out }
