package whereabouts

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/containernetworking/cni/pkg/invoke"
	cniv1 "github.com/containernetworking/cni/pkg/types/100"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/platform"
)

// attachment is one execution of the plugin for one interface, as an interface plugin starts it:
// upstream's own program from its main function, on a simulated host.
type attachment struct {
	call    ipam.Call
	stdin   []byte
	static  int // additional addresses from the configuration
	runtime platform.Exec
}

// attachment prepares one.
func (i *instance) attachment(ctx context.Context, g *sim.Gate, call ipam.Call) (*attachment, error) {
	in, err := i.input(call)
	if err != nil {
		return nil, err
	}
	conf := struct {
		IPAM struct{ Addresses []json.RawMessage }
	}{}
	_ = json.Unmarshal(in, &conf) // upstream says so better
	p := i.program(ctx, g, "interface plugin", call.Node)
	p.Env, p.Executables, p.Child = map[string]string{}, map[string]func(){ours: pluginMain}, g.Child
	return &attachment{call: call, stdin: in, static: len(conf.IPAM.Addresses), runtime: platform.Exec{From: p}}, nil
}

// args are the arguments that containerd passes to a plugin.
func (a *attachment) args(command string) *invoke.Args {
	return &invoke.Args{
		Command: command, ContainerID: a.call.Container, NetNS: "/var/run/netns/" + a.call.Container, IfName: a.call.Interface, Path: "/opt/cni/bin",
		PluginArgs: [][2]string{
			{"IgnoreUnknown", "1"}, {"K8S_POD_NAMESPACE", a.call.Pod.Namespace}, {"K8S_POD_NAME", a.call.Pod.Name},
			{"K8S_POD_INFRA_CONTAINER_ID", a.call.Container}, {"K8S_POD_UID", a.call.UID},
		},
	}
}

// Add executes the plugin's ADD for one interface.
//
// The error has upstream's text. It is ipam.ErrExhausted if upstream found no address in the range;
// a timeout during the search is another error, as in upstream.
func (i *instance) Add(ctx context.Context, g *sim.Gate, call ipam.Call) (ipam.Result, error) {
	a, err := i.attachment(ctx, g, call)
	if err != nil {
		return ipam.Result{}, err
	}
	out, err := invoke.ExecPluginWithResult(ctx, ours, a.stdin, a.args("ADD"), a.runtime)
	if err != nil {
		return ipam.Result{}, refusal(err)
	}
	r, err := cniv1.NewResultFromResult(out)
	if err != nil {
		return ipam.Result{}, fmt.Errorf("whereabouts: %w", err)
	}
	all := make([]netip.Prefix, len(r.IPs))
	for i, ip := range r.IPs {
		all[i] = withMask(net.IPNet(ip.Address))
	}
	own := max(0, len(all)-a.static) // upstream's cmdAdd puts them last
	return ipam.Result{Addrs: all[:own], Static: all[own:]}, nil
}

// Del is one execution of the plugin's DEL, which ignores every error but those of
// reading its configuration: the kubelet forgets the sandbox, released or not.
func (i *instance) Del(ctx context.Context, g *sim.Gate, call ipam.Call) error {
	a, err := i.attachment(ctx, g, call)
	if err != nil {
		return err
	}
	return invoke.ExecPluginWithoutResult(ctx, ours, a.stdin, a.args("DEL"), a.runtime)
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

// refusal says what a failure is to the rest of the world.
//
// Source: pkg/allocate, AssignmentError; cmd/whereabouts.go, cmdAdd (v0.9.4).
func refusal(err error) error {
	if strings.HasPrefix(err.Error(), "error at storage engine: Could not allocate IP in range: ") {
		return exhausted{err}
	}
	return err
}
