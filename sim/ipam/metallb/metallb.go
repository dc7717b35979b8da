// Package metallb is MetalLB as an address manager. It runs the main function of the real
// controller with its reconcilers, its allocator and its controller-runtime manager, copied with
// other imports (copies.txt). They assign addresses to Services of type LoadBalancer. The
// speakers, which announce the addresses, do not run, and pods get no addresses from MetalLB.
//
// The record is the status of the Services. The controller keeps its other state in memory and
// rebuilds it from the Services when it starts. No webhook validates what users write
// (--webhook-mode=disabled): the controller validates it and keeps the last valid configuration.
package metallb

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	metallbv1beta1 "go.universe.tf/metallb/api/v1beta1"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/yaml"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// module is upstream's path, and namespace where its manifests have its objects.
const (
	module    = "go.universe.tf/metallb"
	namespace = "metallb-system"
)

// Controller is the name of the process. Upstream's manifest has one replica; two elect no
// leader.
const Controller = "metallb-controller"

// New is MetalLB as an address manager. Call it outside of bubbles.
func New() *ipam.Manager {
	settle()
	_, _ = crds() // Open reports its error
	return &ipam.Manager{
		Name: "metallb", Upstream: upstreamVersion(), Sources: sources(),
		Processes: []ipam.Process{{Name: Controller, Daemon: true, Several: true}},
		CRDs:      crds, Primary: primary, Check: check, Read: readRecord, Open: open,
	}
}

// settle is for the process: controller-runtime's log says nothing.
var settle = sync.OnceFunc(func() { ctrl.SetLogger(logr.Discard()) })

// upstreamVersion is "go.universe.tf/metallb@v0.16.2", as the build knows it.
func upstreamVersion() string { return ipam.Linked(module, root()) }

func root() string { return ipam.Root(module, (*metallbv1beta1.IPAddressPool).DeepCopy) }

//go:embed copies.txt
var copies string

// sources are upstream's module, and the copies of its packages here.
func sources() []ipam.Source {
	upstream := ipam.Source{Module: upstreamVersion(), Package: module, Root: root()}
	return append([]ipam.Source{upstream}, ipam.CopiedHere(upstream, "ipamsim/sim/ipam/metallb", copies)...)
}

//go:embed upstream/crds/*.yaml
var definitions embed.FS

// crds are the definitions that the controller reads, and those of the advertisements in the same
// manifests, byte for byte as in upstream's config/crd/bases.
var crds = sync.OnceValues(func() (out []*apiextv1.CustomResourceDefinition, err error) {
	files, err := definitions.ReadDir("upstream/crds")
	if err != nil {
		return nil, fmt.Errorf("metallb: %w", err)
	}
	for _, f := range files {
		b, err := definitions.ReadFile("upstream/crds/" + f.Name())
		if err != nil {
			return nil, fmt.Errorf("metallb: %w", err)
		}
		crd := &apiextv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(b, crd); err != nil {
			return nil, fmt.Errorf("metallb: %s: %w", f.Name(), err)
		}
		out = append(out, crd)
	}
	return out, nil
})

// open starts the manager in one run. It starts no goroutine.
func open(env ipam.Env) (ipam.Instance, error) {
	r := newRecord(env.Networks)
	i := &instance{env: env, record: r}
	if env.API != nil {
		if err := r.follow(env.API); err != nil {
			return ipam.Instance{}, fmt.Errorf("metallb: %w", err)
		}
	}
	return ipam.Instance{
		Add: add, Del: del, Run: map[string]ipam.Run{Controller: ipam.Run(i.control).Counted(&i.record.controllers)}, Act: actOf,
		Observe: func(context.Context) (model.Snapshot, error) { return r.snapshot(), nil },
	}, nil
}

// instance is the manager in one run.
type instance struct {
	env    ipam.Env
	record *record
	housed sync.Once // the first process has made the pod
	err    error
}

var errNoPods = errors.New("pods have no addresses of load balancers")

func add(context.Context, *sim.Gate, ipam.Call) (ipam.Result, error) { return ipam.Result{}, errNoPods }

func del(context.Context, *sim.Gate, ipam.Call) error { return nil }

func actOf(detail any) act.Act {
	if x, ok := detail.(kube.Exchange); ok && x.Resource == ipam.ServicesResource {
		return ipam.ActOfBalancer(x)
	}
	return act.Act{}
}
