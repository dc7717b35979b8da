package whereabouts

import (
	"context"
	"fmt"
	"net"
	_ "unsafe" // for linkname

	nadv1 "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/apis/k8s.cni.cncf.io/v1"
	nadinformers "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/client/informers/externalversions"
	"github.com/k8snetworkplumbingwg/whereabouts/pkg/controlloop"
	wbclient "github.com/k8snetworkplumbingwg/whereabouts/pkg/generated/clientset/versioned"
	wbinformers "github.com/k8snetworkplumbingwg/whereabouts/pkg/generated/informers/externalversions"
	storage "github.com/k8snetworkplumbingwg/whereabouts/pkg/storage/kubernetes"
	"github.com/k8snetworkplumbingwg/whereabouts/pkg/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	events "k8s.io/client-go/tools/record"

	"ipamsim/sim"
)

// newPodController is NewPodController with the function that releases an
// address as an argument.
//
//go:linkname newPodController github.com/k8snetworkplumbingwg/whereabouts/pkg/controlloop.newPodController
func newPodController(kubernetes.Interface, wbclient.Interface, informers.SharedInformerFactory, wbinformers.SharedInformerFactory,
	nadinformers.SharedInformerFactory, events.EventBroadcaster, events.EventRecorder,
	func(context.Context, int, types.IPAMConfig, *storage.KubernetesIPAM) ([]net.IPNet, error)) *controlloop.PodController

// podControlLoop is the daemon of a node until ctx ends. It returns an error if
// its node does not exist, on which the real one exits.
//
// Upstream releases an address under a context that never ends. A killed process
// does not mind, but its goroutines here must end, so they get that of the
// process; nothing else differs as long as it lives.
//
// Source: cmd/controlloop/controlloop.go (v0.9.4).
func (i *instance) podControlLoop(ctx context.Context, g *sim.Gate, node string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := dial(i.env.API.Door(g))
	ks := kubeSet{core: d.core(), leases: d.leases()}
	ws, ns := whereaboutsSet{v1alpha1: d.whereabouts()}, networkSet{v1: d.networks()}
	if d.err != nil {
		return fmt.Errorf("failed to create the Kubernetes client: %w", d.err)
	}
	broadcaster := events.NewBroadcaster(events.WithContext(ctx)) // upstream's never shuts down
	broadcaster.StartRecordingToSink(&coreclient.EventSinkImpl{Interface: ks.core.Events("")})
	const noResync = 0
	pools := wbinformers.NewSharedInformerFactory(ws, noResync)
	networks := nadinformers.NewSharedInformerFactory(ns, noResync)
	if err := networks.K8sCniCncfIo().V1().NetworkAttachmentDefinitions().Informer().SetTransform(pinNetwork); err != nil {
		return fmt.Errorf("whereabouts: %w", err)
	}
	pods, err := podsOf(ctx, ks, node)
	if err != nil {
		return err
	}
	crashed := make(chan any, 1)
	release := func(_ context.Context, mode int, c types.IPAMConfig, client *storage.KubernetesIPAM) ([]net.IPNet, error) {
		defer func() {
			if v := recover(); v != nil {
				crashed <- v // sliced.go: the daemon's end, not this process'
				<-ctx.Done()
			}
		}()
		if c.NodeSliceSize != "" {
			ws := whereaboutsSet{v1alpha1: &sliced{WhereaboutsV1alpha1Interface: ws.v1alpha1, node: node}}
			client.Client = *storage.NewKubernetesClient(ws, ks)
		}
		return i.release(ctx, g, node, mode, c, client)
	}
	loop := newPodController(ks, ws, pods, pools, networks, broadcaster,
		broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "pod-ip-controlloop"}), release)
	pods.Start(ctx.Done())
	networks.Start(ctx.Done())
	pools.Start(ctx.Done())
	loop.Start(ctx.Done())
	defer loop.Shutdown()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case v := <-crashed:
		panic(v)
	}
}

// release is IPManagement on the daemon's node. In node-slice mode the elector
// asks for the name of the node, which the daemon's manifest puts in NODENAME.
func (i *instance) release(ctx context.Context, g *sim.Gate, node string, mode int, c types.IPAMConfig, client *storage.KubernetesIPAM) ([]net.IPNet, error) {
	if c.NodeSliceSize != "" {
		dir, err := i.nodes.of(g.World(), node)
		if err != nil {
			return nil, fmt.Errorf("whereabouts: name of node %s: %w", node, err)
		}
		c.ConfigurationPath, client.Config.ConfigurationPath = dir, dir
	}
	return storage.IPManagement(ctx, mode, c, client)
}

// podsOf is PodInformerFactory with the node's name as an argument: upstream
// takes it from the variable NODENAME, which all daemons of this process share.
//
// Source: pkg/controlloop/pod.go, PodInformerFactory (v0.9.4).
func podsOf(ctx context.Context, ks kubernetes.Interface, node string) (informers.SharedInformerFactory, error) {
	if _, err := ks.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{}); err != nil {
		return nil, fmt.Errorf("could not find node with node name '%s': %w", node, err)
	}
	return informers.NewSharedInformerFactoryWithOptions(ks, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", node).String()
	})), nil
}

// pinNetwork is a transform of an informer: it takes the hazards out of a network
// before anyone of the daemon sees it.
func pinNetwork(obj any) (any, error) {
	if n, ok := obj.(*nadv1.NetworkAttachmentDefinition); ok {
		n.Spec.Config = pinned(n.Namespace+"/"+n.Name, n.Spec.Config)
	}
	return obj, nil
}
