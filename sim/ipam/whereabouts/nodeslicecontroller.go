package whereabouts

import (
	"context"
	"fmt"
	"reflect"
	"time"
	"unsafe"

	nadv1 "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/apis/k8s.cni.cncf.io/v1"
	nadinformers "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/client/informers/externalversions"
	wbinformers "github.com/k8snetworkplumbingwg/whereabouts/pkg/generated/informers/externalversions"
	nodecontroller "github.com/k8snetworkplumbingwg/whereabouts/pkg/node-controller"
	"golang.org/x/time/rate"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"ipamsim/sim"
)

// nodeSliceController is the daemon that cuts node slices, until ctx ends.
//
// Upstream lists its nodes in no particular order (sortResults is false), so which
// node gets which slice varies with the seed on the generated runtime, and from
// run to run on the stock one.
//
// Source: cmd/nodeslicecontroller/node_slice_controller.go (v0.9.4).
func (i *instance) nodeSliceController(ctx context.Context, g *sim.Gate, _ string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := dial(i.env.API.Door(g))
	ks, ws, ns := kubeSet{core: d.core()}, whereaboutsSet{v1alpha1: d.whereabouts()}, networkSet{v1: d.networks()}
	if d.err != nil {
		return d.err
	}
	const resync = 30 * time.Second
	nodes := informers.NewSharedInformerFactory(ks, resync)
	pools := wbinformers.NewSharedInformerFactory(ws, resync)
	networks := nadinformers.NewSharedInformerFactory(ns, resync)
	nodeInformer := nodes.Core().V1().Nodes()
	poolInformer := pools.Whereabouts().V1alpha1().NodeSlicePools()
	networkInformer := networks.K8sCniCncfIo().V1().NetworkAttachmentDefinitions()
	if err := networkInformer.Informer().SetTransform(pinNetwork); err != nil {
		return fmt.Errorf("whereabouts: %w", err)
	}
	limiter := workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second),
		&workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(rate.Limit(50), 300)},
	)
	c, err := newNodeController(map[string]any{
		"kubeclientset": ks, "whereaboutsclientset": ws, "nadclientset": ns,
		"nodeLister": nodeInformer.Lister(), "nodeInformer": nodeInformer,
		"nodesSynced":         cache.InformerSynced(nodeInformer.Informer().HasSynced),
		"nodeSlicePoolLister": poolInformer.Lister(), "nodeSlicePoolInformer": poolInformer,
		"nodeSlicePoolSynced": cache.InformerSynced(poolInformer.Informer().HasSynced),
		"nadInformer":         networkInformer, "nadLister": networkInformer.Lister(),
		"nadSynced": cache.InformerSynced(networkInformer.Informer().HasSynced),
		"workqueue": workqueue.NewTypedRateLimitingQueue(limiter),
		"recorder":  nil, "sortResults": false, "whereaboutsNamespace": namespace,
	})
	if err != nil {
		return err
	}
	if err := listen(c, networkInformer.Informer(), nodeInformer.Informer()); err != nil {
		return err
	}
	nodes.Start(ctx.Done())
	pools.Start(ctx.Done())
	networks.Start(ctx.Done())
	return c.Run(ctx, 1)
}

// newNodeController fills in a controller as NewController does, except that it
// has no event recorder, which it never uses. NewController would start three
// goroutines for one, and no way to end them.
//
// It returns an error if upstream's controller has other fields.
//
// Source: pkg/node-controller/controller.go, NewController (v0.9.4).
func newNodeController(fields map[string]any) (*nodecontroller.Controller, error) {
	c := new(nodecontroller.Controller)
	s := reflect.ValueOf(c).Elem()
	if s.NumField() != len(fields) {
		return nil, fmt.Errorf("whereabouts: upstream's node controller has %d fields, not %d", s.NumField(), len(fields))
	}
	for i := range s.NumField() {
		f, name := s.Field(i), s.Type().Field(i).Name
		v, ok := fields[name]
		switch {
		case !ok:
			return nil, fmt.Errorf("whereabouts: upstream's node controller has a field %s", name)
		case v == nil:
			continue
		case !reflect.TypeOf(v).AssignableTo(f.Type()):
			return nil, fmt.Errorf("whereabouts: upstream's node controller wants a %s for %s, not a %T", f.Type(), name, v)
		}
		reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Set(reflect.ValueOf(v))
	}
	return c, nil
}

//go:linkname onNadEvent github.com/k8snetworkplumbingwg/whereabouts/pkg/node-controller.(*Controller).onNadEvent
func onNadEvent(c *nodecontroller.Controller, obj any)

//go:linkname requeueNADs github.com/k8snetworkplumbingwg/whereabouts/pkg/node-controller.(*Controller).requeueNADs
func requeueNADs(c *nodecontroller.Controller, obj any)

// listen registers the controller's handlers as NewController does.
func listen(c *nodecontroller.Controller, networks, nodes cache.SharedIndexInformer) error {
	onNetwork := func(obj any) { onNadEvent(c, obj) }
	onNode := func(obj any) { requeueNADs(c, obj) }
	if _, err := networks.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: onNetwork,
		UpdateFunc: func(old, cur any) {
			if old.(*nadv1.NetworkAttachmentDefinition).ResourceVersion != cur.(*nadv1.NetworkAttachmentDefinition).ResourceVersion {
				onNetwork(cur)
			}
		},
		DeleteFunc: onNetwork,
	}); err != nil {
		return fmt.Errorf("whereabouts: %w", err)
	}
	if _, err := nodes.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: onNode, DeleteFunc: onNode}); err != nil {
		return fmt.Errorf("whereabouts: %w", err)
	}
	return nil
}
