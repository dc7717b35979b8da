package calico

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/containernetworking/cni/pkg/invoke"
	cniv1 "github.com/containernetworking/cni/pkg/types/100"
	"github.com/projectcalico/calico/cni-plugin/pkg/types"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"k8s.io/client-go/kubernetes"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/adapter"
	"ipamsim/sim/ipam/calico/store"
	"ipamsim/sim/ipam/calico/upstream/cni/ipamplugin"
	cniplugin "ipamsim/sim/ipam/calico/upstream/cni/plugin"
	"ipamsim/sim/ipam/platform"
	"ipamsim/sim/kube"
)

// The executables that Calico's installer puts on a host.
const (
	pluginType = "calico"
	ipamType   = "calico-ipam"
)

// programs are upstream's own main functions (copies.txt).
//
// Source: cni-plugin/cmd/calico/calico.go (v3.31.0).
var programs = map[string]func(){
	pluginType: func() { cniplugin.Main(store.Version) },
	ipamType:   func() { ipamplugin.Main(store.Version) },
}

// attachment is one execution of Calico's CNI plugin for a pod, and of the IPAM plugin
// that it executes in turn, as a container runtime begins it: both are upstream's own
// programs from their main functions on, on a simulated host.
type attachment struct {
	call   ipam.Call
	config []byte
	host   *platform.Host
	calico func() (clientv3.Interface, error)
	kube   func() (*kubernetes.Clientset, error)
	crash  func(value any, stack string)
	child  func(run func())
	// faulted: the kernel has refused a request of the plugin.
	faulted bool
	asked   struct {
		got, certain, refused, exhausted bool
		pools                            []string
	}
}

var _ adapter.Machine = (*attachment)(nil)

// Calico and Kube are the clients of the process.
func (e *attachment) Calico(float32) (clientv3.Interface, error)       { return e.calico() }
func (e *attachment) Kube(*rest.Config) (*kubernetes.Clientset, error) { return e.kube() }

// Plug creates the pod's interface.
func (e *attachment) Plug() error { return e.fails("ADD") }

// Unplug removes the interface from its sandbox.
func (e *attachment) Unplug() error {
	if err := e.fails("DEL"); err != nil {
		return err
	}
	if e.call.Unplug != nil {
		e.call.Unplug()
	}
	return nil
}

// fails returns the kernel's error and records it.
func (e *attachment) fails(command string) error {
	if e.call.Fails == nil {
		return nil
	}
	err := e.call.Fails(command)
	e.faulted = err != nil
	return err
}

// attachment prepares one.
func (i *instance) attachment(g *sim.Gate, call ipam.Call) (*attachment, error) {
	if err := i.setup(); err != nil {
		return nil, err
	}
	body, err := i.stdin(call.Config)
	if err != nil {
		return nil, err
	}
	// The installer writes the node's name into the configuration of its host.
	config := bytes.ReplaceAll(body, []byte("__KUBERNETES_NODE_NAME__"), []byte(call.Node))
	e := &attachment{
		call: call, config: config, host: i.host(call.Node, config),
		calico: sync.OnceValues(func() (clientv3.Interface, error) { return i.ds.Client(g, 0) }),
		kube:   sync.OnceValues(func() (*kubernetes.Clientset, error) { return coreOnly(kube.Config(i.env.API.Transport(g))) }),
		crash:  func(v any, _ string) { panic(v) },
		child:  g.Child,
	}
	if g != nil {
		e.crash = g.Crash
	}
	return e, nil
}

// stdin is the plugin's part of a list of plugins, read once in a run, or a configuration of
// the plugin alone.
func (i *instance) stdin(config json.RawMessage) (json.RawMessage, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if part := i.parts[string(config)]; part != nil {
		return part, nil
	}
	var list struct{ Plugins []json.RawMessage }
	if json.Unmarshal(config, &list) != nil || len(list.Plugins) == 0 {
		return config, nil
	}
	part, err := pluginPart(string(config))
	i.parts[string(config)] = part
	return part, err
}

// host is a node's machine. What calico-node writes when it starts is there already:
// the node's name, where the plugin waits for it, and the MTU.
func (i *instance) host(node string, config []byte) *platform.Host {
	i.mu.Lock()
	defer i.mu.Unlock()
	h := i.hosts[node]
	if h == nil {
		files := map[string][]byte{"/var/lib/calico/nodename": []byte(node), "/var/lib/calico/mtu": []byte("1500")}
		conf := types.NetConf{}
		if err := json.Unmarshal(config, &conf); err == nil && conf.NodenameFile != "" {
			files[conf.NodenameFile] = []byte(node)
		}
		h = platform.NewHost(files)
		i.hosts[node] = h
	}
	return h
}

// runtime is the container runtime, which executes the plugin.
func (e *attachment) runtime(ctx context.Context, executables map[string]func()) platform.Exec {
	return platform.Exec{From: &platform.Program{
		Name: "containerd", Host: e.host, Ctx: ctx, Machine: e, Executables: executables, Crash: e.crash, Started: e.started,
		Runtime: true, Child: e.child,
	}}
}

// args are the arguments that containerd passes to a plugin.
func (e *attachment) args(command string) *invoke.Args {
	return &invoke.Args{
		Command: command, ContainerID: e.call.Container, NetNS: e.netns(command), IfName: e.call.Interface, Path: "/opt/cni/bin",
		PluginArgs: [][2]string{
			{"IgnoreUnknown", "1"}, {"K8S_POD_NAMESPACE", e.call.Pod.Namespace}, {"K8S_POD_NAME", e.call.Pod.Name},
			{"K8S_POD_INFRA_CONTAINER_ID", e.call.Container}, {"K8S_POD_UID", e.call.UID},
		},
	}
}

// netns is the path that the runtime gives: that of every ADD is there.
func (e *attachment) netns(command string) string {
	if command == "ADD" {
		return cmp.Or(e.call.Netns, "/var/run/netns/"+e.call.Container)
	}
	return e.call.Netns
}

// started records what the CNI plugin requested from the IPAM plugin, and the result.
func (e *attachment) started(p *platform.Program, end platform.Ended) {
	if p.Name != ipamType || p.Getenv("CNI_COMMAND") != "ADD" {
		return
	}
	certain := strings.Contains(p.Getenv("CNI_ARGS"), ";IP=")
	e.asked.certain = e.asked.certain || certain
	conf := types.NetConf{}
	err := json.Unmarshal(p.Stdin, &conf)
	// The configuration that the IPAM plugin gets includes annotations of the pod or its namespace,
	// and the pools that the configuration names for every pod.
	e.asked.pools = slices.Concat(conf.IPAM.IPv4Pools, conf.IPAM.IPv6Pools)
	if end.Code == 0 {
		e.asked.got = true
		return
	}
	e.asked.refused = certain || len(e.asked.pools) == 0 && !bytes.Equal(p.Stdin, e.config)
	e.asked.exhausted = err == nil && bytes.Contains(end.Stdout, []byte(refusal))
}

// refusal is the beginning of upstream's error if it has fewer addresses than requested.
//
// Source: cni-plugin/pkg/ipamplugin/ipam_plugin.go, cmdAdd (v3.31.0).
const refusal = "failed to request IPv"

// Add is one execution of the CNI plugin's ADD.
//
// The error is upstream's, with its own text. It is ipam.ErrExhausted if upstream
// found no address in any pool that the pod may use, and an ipam.PoolsError if the pod,
// its namespace or the configuration asks for certain pools.
//
// Result.Static holds addresses that the pod brought itself, past IPAM
// (ipAddrsNoIpam).
func (i *instance) Add(ctx context.Context, g *sim.Gate, call ipam.Call) (ipam.Result, error) {
	e, err := i.attachment(g, call)
	if err != nil {
		return ipam.Result{}, err
	}
	out, err := invoke.ExecPluginWithResult(ctx, pluginType, e.config, e.args("ADD"), e.runtime(ctx, programs))
	if err = e.met(err); err != nil {
		return ipam.Result{}, e.failed(err)
	}
	r, err := cniv1.NewResultFromResult(out)
	if err != nil {
		return ipam.Result{}, fmt.Errorf("calico: %w", err)
	}
	if e.asked.got {
		return ipam.Result{Addrs: prefixes(r), Asked: e.asked.certain, OfPool: len(e.asked.pools) > 0}, nil
	}
	return ipam.Result{Static: prefixes(r)}, nil
}

// Del executes the CNI plugin's DEL. It fails, and releases nothing, if the endpoint cannot be read
// or deleted; the kubelet then retries.
func (i *instance) Del(ctx context.Context, g *sim.Gate, call ipam.Call) error {
	e, err := i.attachment(g, call)
	if err != nil {
		return err
	}
	return e.met(invoke.ExecPluginWithoutResult(ctx, pluginType, e.config, e.args("DEL"), e.runtime(ctx, programs)))
}

// met is the error of an execution, an *ipam.Faulted if the kernel had one.
func (e *attachment) met(err error) error {
	if err != nil && e.faulted {
		return &ipam.Faulted{Err: err}
	}
	return err
}

// unmet has upstream's text and matches each of is.
type unmet struct {
	error
	is []error
}

func (u unmet) Unwrap() []error { return append(u.is, u.error) }

// failed converts an error of upstream to the errors of package ipam.
func (e *attachment) failed(err error) error {
	u := unmet{error: err}
	if e.asked.exhausted {
		u.is = append(u.is, ipam.ErrExhausted)
	}
	if e.asked.refused || malformed(err.Error()) {
		u.is = append(u.is, ipam.ErrAsked)
	}
	if len(e.asked.pools) > 0 {
		u.is = append(u.is, &ipam.PoolsError{Pools: e.asked.pools})
	}
	if u.is == nil {
		return err
	}
	return u
}

// malformed reports whether upstream refused the request in a pod's annotation before it executed
// the IPAM plugin.
//
// Source: cni-plugin/pkg/k8s/k8s.go, CmdAddK8s and validateAndExtractIPs (v3.31.0).
func malformed(said string) bool {
	return strings.Contains(said, "ipAddrs") || strings.HasPrefix(said, "invalid IP format: ")
}

func prefixes(r *cniv1.Result) []netip.Prefix {
	var out []netip.Prefix
	for _, c := range r.IPs {
		a, ok := netip.AddrFromSlice(c.Address.IP)
		if !ok {
			continue // upstream parsed it
		}
		bits, _ := c.Address.Mask.Size()
		out = append(out, netip.PrefixFrom(a.Unmap(), bits))
	}
	return out
}

const orchestrator = "k8s"

// coreOnly is a clientset that has the core group alone, which is all that the
// plugin and the node controller use: 50 groups cost more than an ADD.
func coreOnly(c *rest.Config) (*kubernetes.Clientset, error) {
	core, err := coreclient.NewForConfig(c)
	if err != nil {
		return nil, fmt.Errorf("calico: %w", err)
	}
	cs := new(kubernetes.Clientset)
	store.Set(reflect.ValueOf(cs).Elem().FieldByName("coreV1"), core)
	return cs, nil
}
