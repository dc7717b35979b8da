package controlplane

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/controller-manager/app"
	"k8s.io/kube-controller-manager/config/v1alpha1"
	"k8s.io/kubernetes/pkg/controller/apis/config"
	"k8s.io/kubernetes/pkg/controller/apis/config/scheme"

	"ipamsim/sim/kube"
	"ipamsim/sim/kube/early"
	"ipamsim/sim/kube/elect"
)

// Options configure a control plane.
type Options struct {
	// Serves are the resources of the API server, see kube.Server.Discovery.
	Serves []*metav1.APIResourceList
	// Heard reports whether the API server can reach a node's kubelet now.
	Heard            func(node string) bool
	NodeMonitorGrace time.Duration // --node-monitor-grace-period; 0: that of the flags
	// Config is the result of ManagerConfig; nil: no flags.
	Config *config.KubeControllerManagerConfiguration
	// Identity makes the process wait until it is the leader, under this unique name; "": no
	// leader election.
	Identity string
}

// Controllers runs kube-controller-manager. It returns when ctx ends, or with elect.ErrDeposed
// when it loses the leadership.
//
// Source: cmd/kube-controller-manager/app, Run and CreateControllerContext (v1.37.2).
func Controllers(ctx context.Context, rt http.RoundTripper, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m, err := newManager(rt, o)
	if err != nil {
		return err
	}
	if o.Identity == "" {
		return m.run(ctx)
	}
	return elect.Run(ctx, m.conf, candidate(m.config.Generic.LeaderElection, o.Identity), m.run)
}

// run runs the controllers until ctx ends.
func (m *manager) run(ctx context.Context) error {
	runs, err := m.open(ctx)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for _, run := range runs {
		wg.Go(func() { run(ctx) })
	}
	m.typed.Start(ctx.Done())
	m.partial.Start(ctx.Done())
	close(m.started)
	<-ctx.Done()
	wg.Wait()
	m.typed.Shutdown()
	m.partial.Shutdown()
	return ctx.Err()
}

// manager is the shared part of the controllers.
type manager struct {
	conf    *rest.Config
	config  *config.KubeControllerManagerConfiguration
	serves  served
	leases  *leases
	typed   informers.SharedInformerFactory
	partial metadatainformer.SharedInformerFactory // for resources without a Go type
	started chan struct{}                          // closed when the informers run
}

func newManager(rt http.RoundTripper, o Options) (*manager, error) {
	c := o.Config
	if c == nil {
		var err error
		if c, err = defaults(); err != nil {
			return nil, fmt.Errorf("controlplane: defaults: %w", err)
		}
	} else {
		c = c.DeepCopy()
	}
	if o.NodeMonitorGrace != 0 {
		c.NodeLifecycleController.NodeMonitorGracePeriod.Duration = o.NodeMonitorGrace
	}
	m := &manager{config: c, serves: served{lists: o.Serves}, leases: &leases{heard: o.Heard}, started: make(chan struct{})}
	m.conf = kube.Config(withoutEvents{rt})
	client := c.Generic.ClientConnection
	m.conf.QPS, m.conf.Burst, m.conf.ContentType = client.QPS, int(client.Burst), client.ContentType
	resync := c.Generic.MinResyncPeriod.Duration
	typed, err := m.client()
	if err != nil {
		return nil, err
	}
	partial, err := metadata.NewForConfig(m.conf)
	if err != nil {
		return nil, err
	}
	m.typed = &factory{SharedInformerFactory: informers.NewSharedInformerFactory(typed, resync), rt: rt}
	m.partial = metadatainformer.NewSharedInformerFactory(&partials{Interface: partial, rt: rt, of: map[schema.GroupVersionResource]*kube.Objects{}}, resync)
	return m, nil
}

// client returns another client with its own rate limiter.
func (m *manager) client() (kubernetes.Interface, error) { return kubernetes.NewForConfig(m.conf) }

// open creates every controller and its run function.
func (m *manager) open(ctx context.Context) (runs []func(context.Context), err error) {
	defer early.QuietQueues()()
	for _, c := range controllers {
		if !app.IsControllerEnabled(c.name, nil, m.config.Generic.Controllers) {
			continue
		}
		client, err := m.client()
		if err != nil {
			return nil, err
		}
		run, err := c.open(ctx, m, client)
		if err != nil {
			return nil, fmt.Errorf("controlplane: %s: %w", c.name, err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// defaults returns the configuration of a kube-controller-manager without flags.
//
// Source: cmd/kube-controller-manager/app/options, NewDefaultComponentConfig and
// NewKubeControllerManagerOptions, and NodeLifecycleControllerOptions.AddFlags, which has
// four of them (v1.37.2).
func defaults() (*config.KubeControllerManagerConfiguration, error) {
	versioned, c := &v1alpha1.KubeControllerManagerConfiguration{}, &config.KubeControllerManagerConfiguration{}
	scheme.Scheme.Default(versioned)
	err := scheme.Scheme.Convert(versioned, c, nil)
	n := &c.NodeLifecycleController
	c.Generic.LeaderElection.ResourceName, c.Generic.LeaderElection.ResourceNamespace = "kube-controller-manager", "kube-system"
	n.NodeEvictionRate, n.SecondaryNodeEvictionRate, n.LargeClusterSizeThreshold, n.UnhealthyZoneThreshold = 0.1, 0.01, 50, 0.55
	return c, err
}
