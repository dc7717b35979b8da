package whereabouts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/k8snetworkplumbingwg/whereabouts/pkg/allocate"
	"github.com/k8snetworkplumbingwg/whereabouts/pkg/config"
	storage "github.com/k8snetworkplumbingwg/whereabouts/pkg/storage/kubernetes"
	"github.com/k8snetworkplumbingwg/whereabouts/pkg/types"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
)

// Add is cmdAddFunc and cmdAdd: one execution of the plugin for one interface.
//
// The error is upstream's, with its own text. It is ipam.ErrExhausted if upstream
// found no address in the range; running out of time while it looks is another
// error, as upstream has it. Where the real plugin would crash, so does Add.
//
// Source: cmd/whereabouts.go (v0.9.4).
func (i *instance) Add(ctx context.Context, g *sim.Gate, call ipam.Call) (ipam.Result, error) {
	p, err := i.plugin(g, call)
	if err != nil {
		return ipam.Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, types.AddTimeLimit)
	defer cancel()
	ips, err := storage.IPManagement(ctx, types.Allocate, p.Config, p)
	if err != nil {
		return ipam.Result{}, refusal(fmt.Errorf("error at storage engine: %w", err))
	}
	r := ipam.Result{Addrs: prefixes(ips)}
	for _, a := range p.Config.Addresses {
		r.Static = append(r.Static, withMask(a.Address))
	}
	return r, nil
}

// Del is cmdDelFunc and cmdDel, which ignores every error but those of reading
// its configuration: the kubelet forgets the sandbox, released or not.
//
// Source: cmd/whereabouts.go (v0.9.4).
func (i *instance) Del(ctx context.Context, g *sim.Gate, call ipam.Call) error {
	p, err := i.plugin(g, call)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, types.DelTimeLimit)
	defer cancel()
	_, _ = storage.IPManagement(ctx, types.Deallocate, p.Config, p)
	return nil
}

// plugin is LoadIPAMConfig and NewKubernetesIPAM, with clients over the door
// instead of those that a kubeconfig describes.
func (i *instance) plugin(g *sim.Gate, call ipam.Call) (*storage.KubernetesIPAM, error) {
	in, err := i.input(call)
	if err != nil {
		return nil, err
	}
	args := fmt.Sprintf("IgnoreUnknown=1;K8S_POD_NAMESPACE=%s;K8S_POD_NAME=%s;K8S_POD_INFRA_CONTAINER_ID=%s",
		call.Pod.Namespace, call.Pod.Name, call.Container)
	conf, _, err := config.LoadIPAMConfig(in, args)
	if err != nil {
		return nil, err
	}
	d := dial(i.env.API.Door(g))
	ks, ws := kubeSet{leases: d.leases()}, whereaboutsSet{v1alpha1: d.whereabouts()}
	if d.err != nil {
		return nil, fmt.Errorf("failed instantiating kubernetes client: %w", d.err)
	}
	if conf.NodeSliceSize != "" {
		if conf.ConfigurationPath, err = i.nodes.of(g.World(), call.Node); err != nil {
			return nil, fmt.Errorf("whereabouts: name of node %s: %w", call.Node, err)
		}
		ws.v1alpha1 = &sliced{WhereaboutsV1alpha1Interface: ws.v1alpha1, node: call.Node}
	}
	return &storage.KubernetesIPAM{
		Client: *storage.NewKubernetesClient(ws, ks), Config: *conf,
		Namespace: namespace, ContainerID: call.Container, IfName: call.Interface,
	}, nil
}

// input is what the plugin reads from its standard input, computed once for each
// configuration of a run.
func (i *instance) input(call ipam.Call) ([]byte, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	key := call.Network + "\x00" + string(call.Config)
	if in := i.stdin[key]; in != nil {
		return in, nil
	}
	in, err := stdin(call.Network, call.Config)
	if err != nil {
		return nil, fmt.Errorf("whereabouts: %s: %w", call.Network, err)
	}
	if in == nil {
		return nil, fmt.Errorf("whereabouts: %s: not a network of type %s", call.Network, ours)
	}
	i.stdin[key] = in
	return in, nil
}

// exhausted keeps upstream's text and is ipam.ErrExhausted.
type exhausted struct{ error }

func (e exhausted) Unwrap() []error { return []error{e.error, ipam.ErrExhausted} }

func refusal(err error) error {
	if none := (allocate.AssignmentError{}); errors.As(err, &none) {
		return exhausted{err}
	}
	return err
}

func prefixes(ips []net.IPNet) []netip.Prefix {
	out := make([]netip.Prefix, len(ips))
	for i, ip := range ips {
		out[i] = withMask(ip)
	}
	return out
}
