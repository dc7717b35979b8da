package calico

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"sync"

	cniv1 "github.com/containernetworking/cni/pkg/types/100"
	"github.com/projectcalico/calico/cni-plugin/pkg/types"
	libapi "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"github.com/projectcalico/calico/libcalico-go/lib/names"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
	"github.com/sirupsen/logrus"
	"k8s.io/client-go/kubernetes"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// plugin is one execution of Calico's CNI plugin for a pod, and of the IPAM plugin
// that it executes in turn.
//
// Everything that sends a message or decides anything is upstream's own code. The
// order of the calls is that of its two main functions, without what belongs to
// the machine: the file with the node's name (calico-node has always started),
// network namespaces, routes, and the wait for Felix.
//
// Source: cni-plugin/pkg/plugin/plugin.go, cmdAdd and cmdDel;
// cni-plugin/pkg/k8s/k8s.go, CmdAddK8s and CmdDelK8s (v3.31.0).
type plugin struct {
	locks  *hostLocks
	call   ipam.Call
	stdin  []byte // the network configuration, changed on the way by annotations
	conf   types.NetConf
	ids    names.WorkloadEndpointIdentifiers
	calico clientv3.Interface
	kube   *kubernetes.Clientset
	log    *logrus.Entry
}

// Add is one execution of the CNI plugin's ADD.
//
// The error is upstream's, with its own text. It is ipam.ErrExhausted if upstream
// found no address in any pool that the pod may use, unless the pod or the
// configuration asked for certain pools.
//
// Result.Static holds addresses that the pod brought itself, past IPAM
// (ipAddrsNoIpam).
func (i *instance) Add(ctx context.Context, g *sim.Gate, call ipam.Call) (ipam.Result, error) {
	p, err := i.plugin(g, call)
	if err != nil {
		return ipam.Result{}, err
	}
	if err := p.ready(ctx); err != nil {
		return ipam.Result{}, err
	}
	return p.add(ctx)
}

// Del is one execution of the CNI plugin's DEL. It fails, and releases nothing, if
// the endpoint cannot be read or deleted; kubelet then tries again.
func (i *instance) Del(ctx context.Context, g *sim.Gate, call ipam.Call) error {
	p, err := i.plugin(g, call)
	if err != nil {
		return err
	}
	if err := p.ready(ctx); err != nil {
		return err
	}
	if err := p.deleteEndpoint(ctx); err != nil {
		return err
	}
	return p.ipamDel(ctx)
}

// plugin reads the configuration and dials.
func (i *instance) plugin(g *sim.Gate, call ipam.Call) (*plugin, error) {
	if err := i.setup(); err != nil {
		return nil, err
	}
	p := &plugin{locks: &i.locks, call: call, stdin: call.Config, log: logrus.WithField("ContainerID", call.Container)}
	if err := json.Unmarshal(p.stdin, &p.conf); err != nil {
		return nil, fmt.Errorf("failed to load netconf: %w", err)
	}
	if err := i.names.valid(p.conf.Name); err != nil {
		return nil, err
	}
	p.ids = names.WorkloadEndpointIdentifiers{
		Node: call.Node, Orchestrator: orchestrator, Endpoint: call.Interface, Pod: call.Pod.Name, ContainerID: call.Container,
	}
	var err error
	if p.calico, err = i.ds.client(g); err != nil {
		return nil, fmt.Errorf("error creating calico client: %w", err)
	}
	p.kube, err = coreOnly(kube.Config(i.env.API.Door(g)))
	return p, err
}

// checked are the names of networks that upstream has judged: it compiles its
// pattern each time.
type checked struct {
	mu sync.Mutex
	of map[string]error
}

func (c *checked) valid(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err, ok := c.of[name]
	if !ok {
		if c.of == nil {
			c.of = map[string]error{}
		}
		err = validNetworkName(name)
		c.of[name] = err
	}
	return err
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
	set(reflect.ValueOf(cs).Elem().FieldByName("coreV1"), core)
	return cs, nil
}

// ready is the first message of every execution.
func (p *plugin) ready(ctx context.Context) error {
	ci, err := p.calico.ClusterInformation().Get(ctx, "default", options.GetOptions{})
	if err != nil {
		return fmt.Errorf("error getting ClusterInformation: %w", err)
	}
	if !*ci.Spec.DatastoreReady {
		return errNotReady
	}
	return nil
}

//lint:ignore ST1005 it is upstream's text
var errNotReady = errors.New("Calico is currently not ready to process requests")

// add is CmdAddK8s.
func (p *plugin) add(ctx context.Context) (ipam.Result, error) {
	wep, err := p.findEndpoint(ctx)
	if err != nil {
		return ipam.Result{}, err
	}
	pod, err := p.readPod()
	if err != nil {
		return ipam.Result{}, err
	}
	r, managed, err := p.addresses(ctx, pod, wep)
	if err != nil && pod.asks {
		return ipam.Result{}, unmet{err}
	}
	if err != nil {
		return ipam.Result{}, err
	}
	if err := p.storeEndpoint(ctx, wep, pod, r); err != nil {
		return ipam.Result{}, err
	}
	if managed {
		return ipam.Result{Addrs: prefixes(r), Asked: pod.annotations[ipAddrs] != ""}, nil
	}
	return ipam.Result{Static: prefixes(r)}, nil
}

// unmet keeps upstream's text and is ipam.ErrAsked.
type unmet struct{ error }

func (e unmet) Unwrap() []error { return []error{e.error, ipam.ErrAsked} }

// addresses gets the pod its addresses: from IPAM, certain ones from IPAM, or past
// it. managed is false for the last.
func (p *plugin) addresses(ctx context.Context, pod *podFacts, wep *libapi.WorkloadEndpoint) (r *cniv1.Result, managed bool, err error) {
	fixed, past := pod.annotations[ipAddrs], pod.annotations[ipAddrsNoIpam]
	switch {
	case fixed == "" && past == "":
		r, err = p.ipamAdd(ctx, nil)
		return r, true, err
	case fixed != "" && past != "":
		return nil, false, errors.New("can't have both annotations: 'ipAddrs' and 'ipAddrsNoIpam' in use at the same time")
	case p.conf.IPAM.Type != ipamType:
		kind := "ipAddrs"
		if past != "" {
			kind = "ipAddrsNoIpam"
		}
		return nil, false, fmt.Errorf("%s is not compatible with configured IPAM: %s", kind, p.conf.IPAM.Type)
	case past != "":
		if !p.conf.FeatureControl.IPAddrsNoIpam {
			return nil, false, errors.New("requested feature is not enabled: ip_addrs_no_ipam")
		}
		r, err = overrideResult(past, p.log)
		return r, false, err
	}
	if wep != nil {
		if err := releaseEndpointIPs(wep.Spec.IPNetworks, p.calico, p.log); err != nil {
			return nil, false, fmt.Errorf("failed to release ipAddrs: %w", err)
		}
	}
	r, err = p.fixedAddresses(ctx, fixed)
	return r, true, err
}

// fixedAddresses executes the IPAM plugin once for each address of the annotation.
// If a later one fails, the earlier ones stay until somebody runs DEL.
//
// Source: cni-plugin/pkg/k8s/k8s.go, ipAddrsResult and callIPAMWithIP.
func (p *plugin) fixedAddresses(ctx context.Context, annotation string) (*cniv1.Result, error) {
	ips, err := extractIPs(annotation, ipAddrs, p.log)
	if err != nil {
		return nil, err
	}
	all := &cniv1.Result{CNIVersion: cniv1.ImplementedSpecVersion}
	for _, ip := range ips {
		r, err := p.ipamAdd(ctx, ip)
		if err != nil {
			return nil, fmt.Errorf("error getting IP from IPAM: %w", err)
		}
		all.IPs = append(all.IPs, r.IPs[0])
	}
	return all, nil
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
