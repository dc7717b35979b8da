package calico

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	cniv1 "github.com/containernetworking/cni/pkg/types/100"
	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	"github.com/projectcalico/calico/cni-plugin/pkg/types"
	upstream "github.com/projectcalico/calico/libcalico-go/lib/ipam"
	cnet "github.com/projectcalico/calico/libcalico-go/lib/net"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/ipam"
)

// The plugin's own time limits. The first is for everything that allocates or
// releases, the second for looking pools up and for cleaning up.
const (
	ipamTimeout = 90 * time.Second
	sideTimeout = 30 * time.Second
)

// ipamRequest is what the IPAM plugin has read when it starts.
type ipamRequest struct {
	*plugin
	conf   types.NetConf
	handle string
	attrs  map[string]string
}

// ipamAdd is one execution of the IPAM plugin's ADD: the address ip, or any if it
// is nil.
//
// Left out is UpgradeHost, which a plugin runs once on a host before it first
// assigns a certain address, to mend what Calico before v3.30 wrote.
//
// Source: cni-plugin/pkg/ipamplugin/ipam_plugin.go, cmdAdd (v3.31.0).
func (p *plugin) ipamAdd(ctx context.Context, ip net.IP) (*cniv1.Result, error) {
	q, err := p.request()
	if err != nil {
		return nil, err
	}
	if ip != nil {
		return q.assign(ctx, ip)
	}
	return q.autoAssign(ctx)
}

func (p *plugin) request() (*ipamRequest, error) {
	q := &ipamRequest{plugin: p}
	if err := json.Unmarshal(p.stdin, &q.conf); err != nil {
		return nil, fmt.Errorf("failed to load netconf: %w", err)
	}
	workload, err := p.ids.CalculateWorkloadEndpointName(false)
	if err != nil {
		return nil, fmt.Errorf("error constructing WorkloadEndpoint name: %w", err)
	}
	q.handle = handleID(q.conf.Name, p.call.Container, workload)
	q.attrs = map[string]string{
		upstream.AttributeNode:      p.call.Node,
		upstream.AttributeTimestamp: time.Now().UTC().String(),
		upstream.AttributePod:       p.call.Pod.Name,
		upstream.AttributeNamespace: p.call.Pod.Namespace,
	}
	return q, nil
}

// locked runs f under the host's lock. Its time starts when it has the lock.
func (q *ipamRequest) locked(ctx context.Context, f func(context.Context) error) error {
	unlock, err := q.locks.acquire(ctx, q.call.Node)
	if err != nil {
		return err
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(ctx, ipamTimeout)
	defer cancel()
	return f(ctx)
}

func (q *ipamRequest) assign(ctx context.Context, ip net.IP) (*cniv1.Result, error) {
	err := q.locked(ctx, func(ctx context.Context) error {
		return q.calico.IPAM().AssignIP(ctx, upstream.AssignIPArgs{
			IP: cnet.IP{IP: ip}, HandleID: &q.handle, Hostname: q.call.Node, Attrs: q.attrs,
		})
	})
	if err != nil {
		return nil, err
	}
	bits := 128
	if ip.To4() != nil {
		bits = 32
	}
	return &cniv1.Result{IPs: []*cniv1.IPConfig{{Address: net.IPNet{IP: ip, Mask: net.CIDRMask(bits, bits)}}}}, nil
}

func (q *ipamRequest) autoAssign(ctx context.Context) (*cniv1.Result, error) {
	args := upstream.AutoAssignArgs{
		Num4: 1, HandleID: &q.handle, Hostname: q.call.Node, Attrs: q.attrs, IntendedUse: apiv3.IPPoolAllowedUseWorkload,
	}
	if v := q.conf.IPAM.AssignIpv4; v != nil && *v == "false" {
		args.Num4 = 0
	}
	if v := q.conf.IPAM.AssignIpv6; v != nil && *v == "true" {
		args.Num6 = 1
	}
	if q.conf.WindowsUseSingleNetwork {
		args.MaxBlocksPerHost = 1
	}
	var err error
	if args.IPv4Pools, err = q.pools(ctx, q.conf.IPAM.IPv4Pools, true); err != nil {
		return nil, err
	}
	if args.IPv6Pools, err = q.pools(ctx, q.conf.IPAM.IPv6Pools, false); err != nil {
		return nil, err
	}
	if args.Namespace, err = q.namespace(ctx); err != nil {
		return nil, err
	}
	var v4, v6 *upstream.IPAMAssignments
	err = q.locked(ctx, func(ctx context.Context) (err error) {
		v4, v6, err = q.calico.IPAM().AutoAssign(ctx, args)
		return err
	})
	if err != nil {
		return nil, err
	}
	if fewer(v4, args.Num4) {
		q.giveBack(ctx, v6)
	}
	if fewer(v6, args.Num6) {
		q.giveBack(ctx, v4)
	}
	r := &cniv1.Result{}
	for _, a := range []struct {
		got *upstream.IPAMAssignments
		num int
	}{{v4, args.Num4}, {v6, args.Num6}} {
		if a.num == 0 {
			continue
		}
		if err := a.got.PartialFulfillmentError(); err != nil {
			return nil, q.refusal(fmt.Errorf("failed to request IPv%d addresses: %w", a.got.IPVersion, err))
		}
		r.IPs = append(r.IPs, &cniv1.IPConfig{Address: net.IPNet{IP: a.got.IPs[0].IP, Mask: a.got.IPs[0].Mask}})
	}
	if len(r.IPs) == 0 {
		return nil, errors.New("IPAM plugin returned missing IP config")
	}
	return r, nil
}

func (q *ipamRequest) pools(ctx context.Context, names []string, v4 bool) ([]cnet.IPNet, error) {
	ctx, cancel := context.WithTimeout(ctx, sideTimeout)
	defer cancel()
	return resolvePools(ctx, q.calico, names, v4)
}

// namespace is the pod's, for pools that select some; nil if the plugin has no way
// to the Kubernetes API.
//
// Source: cni-plugin/pkg/ipamplugin/ipam_plugin.go, getNamespace.
func (q *ipamRequest) namespace(ctx context.Context) (*corev1.Namespace, error) {
	name := q.call.Pod.Namespace
	if q.conf.Kubernetes.Kubeconfig == "" && q.conf.Policy.PolicyType != kubernetesPolicy || name == "" {
		return nil, nil
	}
	ns, err := q.kube.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("failed to get namespace %s: %w", name, err)
	}
	return ns, nil
}

func fewer(a *upstream.IPAMAssignments, num int) bool {
	return num == 1 && a != nil && len(a.IPs) < num
}

// giveBack releases the address of one family because there was none of the other.
// Upstream goes by the address alone and does not mind if it fails.
func (q *ipamRequest) giveBack(ctx context.Context, a *upstream.IPAMAssignments) {
	if a == nil || len(a.IPs) == 0 {
		return
	}
	var opts []upstream.ReleaseOptions
	for _, ip := range a.IPs {
		opts = append(opts, upstream.ReleaseOptions{Address: ip.IP.String()})
	}
	ctx, cancel := context.WithTimeout(ctx, sideTimeout)
	defer cancel()
	_, _, _ = q.calico.IPAM().ReleaseIPs(ctx, opts...)
}

// exhausted keeps upstream's text and is ipam.ErrExhausted.
type exhausted struct{ error }

func (e exhausted) Unwrap() []error { return []error{e.error, ipam.ErrExhausted} }

// refusal is upstream's word that it has fewer addresses than were asked for.
func (q *ipamRequest) refusal(err error) error {
	if len(q.conf.IPAM.IPv4Pools)+len(q.conf.IPAM.IPv6Pools) > 0 {
		return err
	}
	return exhausted{err}
}

// ipamDel is one execution of the IPAM plugin's DEL: by the handle of this sandbox,
// and by that which Calico before v3 gave to the pod. Its time runs while it waits
// for the lock.
//
// Source: cni-plugin/pkg/ipamplugin/ipam_plugin.go, cmdDel (v3.31.0).
func (p *plugin) ipamDel(ctx context.Context) error {
	q, err := p.request()
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, ipamTimeout)
	defer cancel()
	unlock, err := p.locks.acquire(ctx, p.call.Node)
	if err != nil {
		return err
	}
	defer unlock()
	for _, handle := range []string{q.handle, p.call.Pod.Namespace + "." + p.call.Pod.Name} {
		if err := p.calico.IPAM().ReleaseByHandle(limited, handle); err != nil && !missing(err) {
			return err
		}
	}
	return nil
}
