package services

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	restclient "k8s.io/client-go/rest"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/controlplane/controller/defaultservicecidr"
	"k8s.io/kubernetes/pkg/registry/core/service/allocator"
	bitmap "k8s.io/kubernetes/pkg/registry/core/service/allocator/storage"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
	repairaddresses "k8s.io/kubernetes/pkg/registry/core/service/ipallocator/controller"
	"k8s.io/kubernetes/pkg/registry/core/service/portallocator"
	repairports "k8s.io/kubernetes/pkg/registry/core/service/portallocator/controller"
	services "k8s.io/kubernetes/pkg/registry/core/service/storage"
	"k8s.io/kubernetes/pkg/util/async"
	"k8s.io/utils/clock"
	netutils "k8s.io/utils/net"

	"ipamsim/sim"
	"ipamsim/sim/kube"
)

// server is one kube-apiserver.
type server struct {
	*kube.Peer
	config
	name   sim.ActorID
	client kubernetes.Interface // by loopback
	all    informers.SharedInformerFactory
	ips    map[api.IPFamily]ipallocator.Interface
	ports  *portallocator.PortAllocator
	bitmap *bitmap.Etcd
	ready  bool // guarded by instance.mu
}

// Of kube-apiserver.
//
// Source: pkg/controlplane/apiserver/config.go (the informers' resync) and
// pkg/controlplane/instance.go (repairLoopInterval), v1.37.2.
const (
	resync         = 10 * time.Minute
	repairInterval = 3 * time.Minute
)

var errNotRepaired = errors.New("unable to perform initial IP and Port allocation check")

// serve is a kube-apiserver. It returns an error where the real one exits.
//
// Of it are left out all resources but Services, IPAddresses and ServiceCIDRs,
// events, the watch cache, its filters but the one that ends a request after a minute, and
// the controller of the Service default/kubernetes.
//
// Source: pkg/registry/core/rest/storage_core.go, New, newServiceIPAllocators and
// PostStartHook; pkg/controlplane/instance.go (v1.37.2).
func (i *instance) serve(ctx context.Context, g *sim.Gate, _ string) error {
	c, err := i.config()
	if err != nil {
		return err
	}
	s := &server{Peer: i.env.API.Peer(ctx, g), config: c, name: g.Actor()}
	if err := s.allocators(kube.Config(s.Peer)); err != nil {
		return err
	}
	s.resources()
	failed := make(chan error, 1)
	go func() {
		if err := s.start(ctx); err != nil {
			failed <- err
			return
		}
		i.mu.Lock()
		s.ready = true
		i.mu.Unlock()
	}()
	i.mu.Lock()
	i.servers = append(i.servers, s)
	i.mu.Unlock()
	defer i.leave(s)
	go func() { _ = s.Run(ctx) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (i *instance) leave(s *server) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.servers = slices.DeleteFunc(i.servers, func(o *server) bool { return o == s })
}

// allocators makes those of addresses, one a family, and that of node ports.
func (s *server) allocators(loopback *restclient.Config) (err error) {
	if s.client, err = kubernetes.NewForConfig(loopback); err != nil {
		return err
	}
	s.all = informers.NewSharedInformerFactory(s.client, resync)
	s.ips = map[api.IPFamily]ipallocator.Interface{}
	for _, r := range s.ranges {
		a, err := ipallocator.NewMetaAllocator(s.client.NetworkingV1(), s.all.Networking().V1().ServiceCIDRs(),
			s.all.Networking().V1().IPAddresses(), netutils.IsIPv6CIDR(r), nil) // no bitmap: DisableAllocatorDualWrite is locked since 1.35
		if err != nil {
			return err
		}
		s.ips[a.IPFamily()] = a
	}
	s.ports, err = portallocator.New(s.config.ports, func(max int, rangeSpec string, offset int) (allocator.Interface, error) {
		s.bitmap = s.inEtcd(allocator.NewAllocationMapWithOffset(max, rangeSpec, offset))
		return s.bitmap, nil
	})
	return err
}

// portsKey is where the bitmap of node ports is.
const portsKey = "/ranges/servicenodeports"

// inEtcd is the bitmap of node ports in this server's etcd. Upstream's constructor would dial one.
//
// Source: pkg/registry/core/service/allocator/storage, NewEtcd.
func (s *server) inEtcd(mem allocator.Snapshottable) *bitmap.Etcd {
	e, gr := &bitmap.Etcd{}, api.Resource("servicenodeportallocations")
	v := reflect.ValueOf(e).Elem()
	set(v.FieldByName("alloc"), mem)
	set(v.FieldByName("storage"), s.Storage(gr, "services", portsKey))
	set(v.FieldByName("baseKey"), portsKey)
	set(v.FieldByName("resource"), gr)
	set(v.FieldByName("destroyFn"), func() {})
	return e
}

// set and get are for fields that upstream does not export.
func set(field reflect.Value, x any) {
	reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(reflect.ValueOf(x))
}

func get[T any](field reflect.Value) T {
	return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Interface().(T)
}

// resources registers the resources that it serves.
func (s *server) resources() {
	for _, plural := range []string{addressesResource, rangesResource} {
		s.Serve(plural, kube.Builtin(plural))
	}
	s.Serve(servicesResource, kube.Resource{Version: corev1.SchemeGroupVersion, Open: func(o generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
		primary := api.IPv4Protocol
		if netutils.IsIPv6CIDR(s.ranges[0]) {
			primary = api.IPv6Protocol
		}
		r, status, _, err := services.NewREST(o, primary, s.ips, s.ports, kube.NoEndpoints{}, nil, nil)
		return map[string]rest.Storage{servicesResource: r, servicesResource + "/status": status}, err
	}})
}

// lateClock is a clock on which every reading takes some time. In a bubble a reading takes none:
// the timer of the repair fires when an IPAddress is exactly as old as the grace period, not
// older, and the repair would set another timer with a duration of 0, forever.
type lateClock struct {
	clock.RealClock
	reads *atomic.Int64
}

func (c lateClock) Now() time.Time {
	return time.Now().Add(time.Duration(c.reads.Add(1)) * time.Microsecond)
}

// start starts the controllers, and returns when addresses and node ports were repaired
// once.
func (s *server) start(ctx context.Context) error {
	second := *s.ranges[0]
	if second.IP = nil; len(s.ranges) > 1 {
		second = *s.ranges[1]
	}
	go keepDefaultRange(ctx, defaultservicecidr.NewController(*s.ranges[0], second, s.client))
	ports := repairports.NewRepair(repairInterval, s.client.CoreV1(), s.client.EventsV1(), s.config.ports, s.bitmap)
	addresses := repairaddresses.NewRepairIPAddress(repairInterval, s.client, s.all.Core().V1().Services(),
		s.all.Networking().V1().ServiceCIDRs(), s.all.Networking().V1().IPAddresses())
	set(reflect.ValueOf(addresses).Elem().FieldByName("clock"), lateClock{reads: &atomic.Int64{}})
	s.all.Start(ctx.Done())
	var first sync.WaitGroup
	first.Add(2)
	r := async.NewRunner(func(stop chan struct{}) { addresses.RunUntil(first.Done, stop) }, func(stop chan struct{}) { ports.RunUntil(first.Done, stop) })
	r.Start()
	context.AfterFunc(ctx, r.Stop)
	done := make(chan struct{})
	go func() {
		first.Wait()
		close(done)
	}()
	t := time.NewTimer(time.Minute)
	defer t.Stop()
	select {
	case <-done:
		return nil
	case <-t.C:
		return errNotRepaired
	case <-ctx.Done():
		return ctx.Err()
	}
}
