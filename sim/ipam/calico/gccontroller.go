package calico

import (
	"context"
	"errors"
	"reflect"
	"time"
	_ "unsafe" // for linkname

	"github.com/projectcalico/calico/kube-controllers/pkg/config"
	"github.com/projectcalico/calico/kube-controllers/pkg/controllers/node"
	"github.com/projectcalico/calico/kube-controllers/pkg/controllers/utils"
	"github.com/projectcalico/calico/kube-controllers/pkg/converter"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"ipamsim/sim"
)

// errConfigChanged is the end of a controller whose KubeControllersConfiguration
// has changed: it exits to be started anew.
var errConfigChanged = errors.New("configuration changed; restarting")

// ipamController is one run of calico-kube-controllers with its node controller,
// as its main function starts it: the configuration from the datastore (which it
// creates if there is none), the data feed with real watches, informers for pods
// and nodes, and the sub-controllers for IPAM, host endpoints and, with etcdv3,
// node labels and the deletion of Calico nodes.
//
// Left out are the other controllers, the health checks, which only read, and
// the compaction of etcd. IP pools are hidden from the data feed (hidePools).
//
// It returns errConfigChanged if the configuration changed; a panic of upstream's
// IPAM loop or of one of its informer handlers is raised again here, where it is
// the process's.
//
// Source: kube-controllers/cmd/kube-controllers/main.go, main, InitControllers
// and RunControllers (v3.31.0).
func (i *instance) ipamController(ctx context.Context, g *sim.Gate, _ string) error {
	c, err := i.gcClients(g)
	if err != nil {
		return err
	}
	if err := initialise(ctx, c.calico); err != nil {
		return err
	}
	env := i.gcEnvironment()
	configs := config.NewRunConfigController(ctx, env, c.calico.KubeControllersConfiguration()).ConfigChan()
	context.AfterFunc(ctx, func() { forget(configs) })
	select {
	case <-ctx.Done():
		return ctx.Err()
	case cfg := <-configs:
		r, err := startControllers(ctx, c, env.DatastoreType, *cfg.Controllers.Node)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-configs:
			return errConfigChanged
		case v := <-r.crashed:
			panic(v)
		}
	}
}

// forget takes a configuration that the dead process would still wait to hand
// over: that goroutine of upstream has no other end.
func forget(configs <-chan config.RunConfig) {
	const patience = 5 * time.Second // its longest pause between two looks at its context is one
	for {
		select {
		case <-configs:
		case <-time.After(patience):
			return
		}
	}
}

// runningControllers is what one run has started and has to end.
type runningControllers struct {
	stop      chan struct{}
	crashed   crashes
	informers []chan struct{}
	feed      *utils.DataFeed
	nodes     *node.NodeController
	deleter   any // *nodeDeleter, or nil
}

// startControllers starts the node controller and everything that feeds it. All
// of it ends with ctx.
//
// Upstream's own switch for the deletion of Calico nodes, DeleteNodes, starts a
// goroutine that has no end and keeps it to itself. It is off here, and the same
// sub-controller is made and wired in the same order instead.
func startControllers(ctx context.Context, c gcClients, datastore string, cfg config.NodeControllerConfig) (*runningControllers, error) {
	r := &runningControllers{stop: make(chan struct{}), crashed: make(crashes, 1)}
	r.feed = utils.NewDataFeed(hidePools(c.calico), datastore)
	factory := informers.NewSharedInformerFactory(c.kube, 0)
	pods := &guardedInformer{SharedIndexInformer: factory.Core().V1().Pods().Informer(), crashed: r.crashed}
	nodes := &guardedInformer{SharedIndexInformer: factory.Core().V1().Nodes().Informer(), crashed: r.crashed}
	register := func() {}
	if cfg.DeleteNodes {
		cfg.DeleteNodes = false
		d := node.NewNodeDeletionController(c.calico, c.kube)
		r.deleter, nodes.deleted, register = d, d.OnKubernetesNodeDeleted, func() { d.RegisterWith(r.feed) }
	}
	r.nodes = node.NewNodeController(ctx, c.kube, c.calico, cfg, nodes, pods, r.feed).(*node.NodeController)
	register()
	if err := pods.SetTransform(converter.PodTransformer(false)); err != nil {
		return nil, err
	}
	for _, inf := range []cache.SharedIndexInformer{pods, nodes} {
		done := make(chan struct{})
		r.informers = append(r.informers, done)
		go func() { defer close(done); inf.Run(r.stop) }()
	}
	go r.run(nodes, pods, cfg)
	r.feed.Start()
	context.AfterFunc(ctx, r.unwind)
	return r, nil
}

//go:linkname acceptScheduleRequests github.com/projectcalico/calico/kube-controllers/pkg/controllers/node.(*IPAMController).acceptScheduleRequests
func acceptScheduleRequests(*node.IPAMController, <-chan struct{})

// run is NodeController.Run, with the IPAM controller's loop on a goroutine whose
// end is seen.
//
// Source: kube-controllers/pkg/controllers/node/controller.go, Run (v3.31.0).
func (r *runningControllers) run(nodes, pods cache.SharedIndexInformer, cfg config.NodeControllerConfig) {
	if !cache.WaitForNamedCacheSync("nodes", r.stop, nodes.HasSynced) || !cache.WaitForNamedCacheSync("pods", r.stop, pods.HasSynced) {
		return
	}
	ipam := hidden(r.nodes, "ipamCtrl").Interface().(*node.IPAMController)
	go r.crashed.watch(func() { acceptScheduleRequests(ipam, r.stop) })
	start := func(name string) {
		hidden(r.nodes, name).MethodByName("Start").Call([]reflect.Value{reflect.ValueOf(r.stop)})
	}
	start("hostEndpointController")
	if cfg.SyncLabels {
		start("nodeLabelController")
	}
}
