package services

import (
	"context"
	"reflect"
	"time"
	_ "unsafe" // for linkname

	utilwait "k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	clientrecord "k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/controlplane/controller/defaultservicecidr"
)

//go:linkname syncDefault k8s.io/kubernetes/pkg/controlplane/controller/defaultservicecidr.(*Controller).sync
func syncDefault(c *defaultservicecidr.Controller, ctx context.Context) error

// defaultRangeInterval is the interval of the controller of the default ServiceCIDR.
const defaultRangeInterval = 10 * time.Second

// keepDefaultRange runs the sync of the controller of the default ServiceCIDR, as its Start does.
// Start shuts its event broadcaster down before it cancels the listener, which then reads a closed
// channel in a loop until another thread cancels it: here there is no other thread.
//
// Source: pkg/controlplane/controller/defaultservicecidr, Controller.Start (v1.37.2).
func keepDefaultRange(ctx context.Context, c *defaultservicecidr.Controller) {
	v := reflect.ValueOf(c).Elem()
	set(v.FieldByName("eventRecorder"), &clientrecord.FakeRecorder{})
	informer := get[cache.SharedIndexInformer](v.FieldByName("serviceCIDRInformer"))
	go informer.Run(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return
	}
	err := utilwait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) { return syncDefault(c, ctx) == nil, nil })
	if err == nil {
		utilwait.Until(func() { _ = syncDefault(c, ctx) }, defaultRangeInterval, ctx.Done())
	}
}
