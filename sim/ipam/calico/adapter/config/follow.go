package config

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"time"
	_ "unsafe" // for linkname

	v3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	real "github.com/projectcalico/calico/kube-controllers/pkg/config"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
	"github.com/projectcalico/calico/libcalico-go/lib/watch"

	"ipamsim/sim/ipam/platform"
)

//go:linkname getOrCreate github.com/projectcalico/calico/kube-controllers/pkg/config.getOrCreateSnapshot
func getOrCreate(context.Context, clientv3.KubeControllersConfigurationInterface) (*v3.KubeControllersConfiguration, error)

//go:linkname merge github.com/projectcalico/calico/kube-controllers/pkg/config.mergeConfig
func merge(env map[string]string, c real.Config, spec v3.KubeControllersConfigurationSpec) (RunConfig, v3.KubeControllersConfigurationStatus)

// Of upstream's.
const (
	backoff = time.Second
	name    = "default"
)

var errWatch = errors.New("error watching KubeControllersConfiguration")

// follower is upstream's RunConfigController with the program's own environment, where
// upstream reads that of the process.
type follower struct {
	env    map[string]string
	config real.Config
	client clientv3.KubeControllersConfigurationInterface
	out    chan RunConfig
	last   *RunConfig
	watch  watch.Interface
}

// follow sends the configuration, and again whenever it changes, until ctx ends.
//
// Source: kube-controllers/pkg/config/runconfig.go, syncDatastore (v3.31.0).
func follow(ctx context.Context, c real.Config, client clientv3.KubeControllersConfigurationInterface) <-chan RunConfig {
	f := &follower{env: maps.Clone(platform.Current().Env), config: c, client: client, out: make(chan RunConfig)}
	delete(f.env, "DATASTORE_TYPE") // upstream's follower does not read this variable
	go func() {
		var snapshot *v3.KubeControllersConfiguration
		for ctx.Err() == nil {
			var err error
			if snapshot, err = f.round(ctx, snapshot); err != nil {
				snapshot = nil
				time.Sleep(backoff)
			}
		}
	}()
	return f.out
}

// round writes the status, and follows changes until the watch ends. It returns what to
// begin the next one with; nil: nothing is known.
func (f *follower) round(ctx context.Context, snapshot *v3.KubeControllersConfiguration) (_ *v3.KubeControllersConfiguration, err error) {
	if snapshot == nil {
		if snapshot, err = getOrCreate(ctx, f.client); err != nil {
			return nil, err
		}
	}
	now, status := merge(f.env, f.config, snapshot.Spec)
	snapshot.Status = status
	if snapshot, err = writeStatus(ctx, f.client, snapshot); err != nil {
		return nil, err
	}
	all, err := f.client.List(ctx, options.ListOptions{Name: name})
	if err != nil {
		return nil, err
	}
	f.send(now)
	if f.watch != nil {
		f.watch.Stop()
	}
	if f.watch, err = f.client.Watch(ctx, options.ListOptions{ResourceVersion: all.ResourceVersion}); err != nil {
		return nil, err
	}
	for e := range f.watch.ResultChan() {
		switch e.Type {
		case watch.Error:
			return nil, errWatch
		case watch.Added, watch.Modified:
			if k := e.Object.(*v3.KubeControllersConfiguration); k.Name == name {
				if snapshot, err = f.changed(ctx, k); err != nil {
					return nil, err
				}
			}
		case watch.Deleted:
			if e.Previous != nil && e.Previous.(*v3.KubeControllersConfiguration).Name == name {
				return nil, nil
			}
		}
	}
	return snapshot, nil
}

// changed writes the status if it differs.
func (f *follower) changed(ctx context.Context, k *v3.KubeControllersConfiguration) (_ *v3.KubeControllersConfiguration, err error) {
	now, status := merge(f.env, f.config, k.Spec)
	if !reflect.DeepEqual(k.Status, status) {
		k.Status = status
		if k, err = writeStatus(ctx, f.client, k); err != nil {
			return nil, err
		}
	}
	f.send(now)
	return k, nil
}

// send is for a configuration that is not the last one.
func (f *follower) send(c RunConfig) {
	if f.last == nil || !reflect.DeepEqual(c, *f.last) {
		f.out <- c
		f.last = &c
	}
}
