package adapter

// Controller-runtime is the real one, except for the parts that belong to the process: its
// connection to the API server, its signal to end, and the addresses on which it listens.

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	real "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"ipamsim/sim/ipam/platform"
)

// These are the real ones.
type (
	Manager = real.Manager
	Options = real.Options
	Request = real.Request
	Result  = real.Result
)

var (
	NewControllerManagedBy = real.NewControllerManagedBy
	Log                    = real.Log
)

// GetConfigOrDie is the process's, with the limits that the real one sets.
//
// Source: sigs.k8s.io/controller-runtime/pkg/client/config, GetConfigWithContext (v0.25.2).
func GetConfigOrDie() *rest.Config {
	c := Here().Config()
	c.QPS, c.Burst = 20, 30
	return c
}

// NewManager creates a real manager that listens on no address, because nothing requests its
// metrics or health. Discovery takes no message, a second process may have a controller of the
// same name, and the event broadcaster ends with the process.
func NewManager(c *rest.Config, o Options) (Manager, error) {
	here, several := Here(), true
	o.Metrics, o.HealthProbeBindAddress, o.PprofBindAddress = metricsserver.Options{BindAddress: "0"}, "0", "0"
	o.Controller.SkipNameValidation = &several
	o.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return here.Mapper(), nil }
	//lint:ignore SA1019 it is deprecated because broadcasters outlive the manager; this one ends with the process
	o.EventBroadcaster = record.NewBroadcaster(record.WithContext(SetupSignalHandler()))
	return real.NewManager(c, o)
}

// SetupSignalHandler ends when the program is asked to end, or is killed.
func SetupSignalHandler() context.Context { return platform.Current().Signals() }
