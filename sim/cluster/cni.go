package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"sync"

	nadv1 "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/apis/k8s.cni.cncf.io/v1"
	nadutils "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/utils"
	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster/checker"
	"ipamsim/sim/ipam"
)

const statusAnnotation = nadv1.NetworkStatusAnnot

// wanted is one network a pod asks for.
type wanted struct{ key, iface string }

// attached is one network a sandbox got.
type attached struct {
	wanted
	result ipam.Result
}

// networksOf lists what a pod is attached to, in order: the primary network,
// unless it lives in its host's, and those of its annotation.
func (c *Cluster) networksOf(p *corev1.Pod) []wanted {
	asked := c.asked.by(p)
	if c.cfg.Primary == "" || p.Spec.HostNetwork {
		return asked
	}
	return append([]wanted{{key: c.cfg.Primary, iface: "eth0"}}, asked...)
}

// asked remembers what was read in annotations: Multus' parser compiles its
// patterns each time, and a pod is looked at whenever it changes.
type asked struct {
	mu sync.Mutex
	of map[[2]string][]wanted // by namespace and annotation
}

func (a *asked) by(p *corev1.Pod) []wanted {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := [2]string{p.Namespace, p.Annotations[nadv1.NetworkAttachmentAnnot]}
	out, ok := a.of[key]
	if !ok {
		if a.of == nil {
			a.of = map[[2]string][]wanted{}
		}
		out = askedBy(p)
		a.of[key] = out
	}
	return out
}

// askedBy is what the pod asks for, nothing if its annotation cannot be read.
func askedBy(p *corev1.Pod) []wanted {
	out, _ := readAsked(p)
	return out
}

// readAsked reads the pod's networks annotation with Multus' own parser. An error,
// or a panic of the parser (it dereferences the nil of "[null]"), is the end of the
// plugin that reads it.
func readAsked(p *corev1.Pod) (out []wanted, err error) {
	defer func() {
		if v := recover(); v != nil {
			out, err = nil, fmt.Errorf("multus: panic: %v", v)
		}
	}()
	sel, err := nadutils.ParsePodNetworkAnnotation(p)
	if none := (*nadv1.NoK8sNetworkError)(nil); errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("multus: %w", err)
	}
	out = make([]wanted, len(sel))
	for i, s := range sel {
		out[i] = wanted{key: s.Namespace + "/" + s.Name, iface: s.InterfaceRequest}
		if out[i].iface == "" {
			out[i].iface = fmt.Sprintf("net%d", i+1)
		}
	}
	return out, nil
}

// add is Multus' ADD: the networks in order, each a process of its own; the
// first failure ends it, and whoever called undoes the rest.
func (w *worker) add(ctx context.Context, st *podState) ([]attached, error) {
	if w.c.asked.by(st.pod) == nil {
		if _, err := readAsked(st.pod); err != nil {
			return nil, err
		}
	}
	var got []attached
	for _, n := range w.c.networksOf(st.pod) {
		st.networks = append(st.networks, n.key)
		res, err := w.c.cniAdd(ctx, w.id, w.call(st, n))
		if err != nil {
			return nil, err
		}
		w.c.Checker.Attach(st.container, model.Attachment{
			Network: n.key, Interface: n.iface, Addrs: addrs(res.Addrs), Static: addrs(res.Static), Asked: res.Asked,
		})
		got = append(got, attached{n, res})
	}
	return got, nil
}

func (w *worker) call(st *podState, n wanted) ipam.Call {
	return ipam.Call{
		Node: w.k.node, Pod: w.key, UID: string(st.pod.UID), Container: st.container,
		Interface: n.iface, Network: n.key, Config: w.c.config(n.key),
		Unplug: func() { w.c.Checker.Detach(st.container, n.iface) },
	}
}

func (c *Cluster) config(network string) json.RawMessage {
	for _, n := range c.cfg.Networks {
		if n.Key == network {
			return n.Config
		}
	}
	return nil
}

func (c *Cluster) cniAdd(ctx context.Context, by sim.ActorID, call ipam.Call) (res ipam.Result, err error) {
	if call.Config == nil {
		return res, fmt.Errorf("network-attachment-definition %q not found", call.Network)
	}
	a, err := c.exec(ctx, by, checker.AddKind, call, func(ctx context.Context, g *sim.Gate) error {
		var err error
		res, err = c.inst.Add(ctx, g, call)
		return err
	})
	if a == nil {
		return ipam.Result{}, err
	}
	e := c.Checker.End(model.AddEnd, a, call, err)
	e.Addrs, e.Exhausted, e.Asked = addrs(res.Addrs), errors.Is(err, ipam.ErrExhausted), errors.Is(err, ipam.ErrAsked)
	if err != nil {
		e.Addrs, res = nil, ipam.Result{}
	}
	c.Checker.Record(e)
	return res, err
}

func (c *Cluster) cniDel(ctx context.Context, by sim.ActorID, call ipam.Call) error {
	a, err := c.exec(ctx, by, checker.DelKind, call, func(ctx context.Context, g *sim.Gate) error {
		return c.inst.Del(ctx, g, call)
	})
	if a == nil {
		return err
	}
	e := c.Checker.End(model.DelEnd, a, call, err)
	if err == nil {
		c.Checker.Detach(call.Container, call.Interface)
	}
	c.Checker.Record(e)
	return err
}

// exec runs a CNI plugin as a process of its own and waits for it. The actor is
// nil if the caller or the runtime died first; the call is over then as well.
//
// A caller that is dead already starts nothing: power goes while a kubelet stops
// a pod's containers, the kubelet unwinds, and a DEL would run on a machine that
// is off, with nobody to take note of its end.
func (c *Cluster) exec(ctx context.Context, by sim.ActorID, verb string, call ipam.Call, run func(context.Context, *sim.Gate) error) (*sim.Actor, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if !c.runtimeAnswers(call.Node) {
		return nil, errNoRuntime
	}
	b := c.Checker.Begin(call, verb == checker.DelKind, by)
	id := sim.ActorID(c.unique(fmt.Sprintf("%s/%s/%s", verb, call.Pod, call.Interface)))
	a := c.spawnUpstream(id, call.Node, run)
	c.Checker.Begun(b, a)
	select {
	case <-a.Done():
	case <-b.Lost:
	case <-ctx.Done():
	}
	select {
	case <-b.Lost:
		return nil, cmp.Or(ctx.Err(), errNoRuntime)
	default:
	}
	if ctx.Err() != nil {
		c.w.Kill(id)
		c.Checker.Drop(b)
		return nil, ctx.Err()
	}
	return a, a.Err()
}

func addrs(ps []netip.Prefix) []netip.Addr {
	out := make([]netip.Addr, len(ps))
	for i, p := range ps {
		out[i] = p.Addr()
	}
	return out
}

// podIPs are the addresses of the primary network, which the kubelet reports as
// the pod's own.
func (c *Cluster) podIPs(got []attached) []corev1.PodIP {
	var out []corev1.PodIP
	for _, a := range got {
		if a.key != c.cfg.Primary || c.cfg.Primary == "" {
			continue
		}
		for _, p := range a.result.Addrs {
			out = append(out, corev1.PodIP{IP: p.Addr().String()})
		}
	}
	return out
}

// statusOf is the network-status annotation Multus writes.
func statusOf(got []attached) string {
	out := make([]nadv1.NetworkStatus, len(got))
	for i, a := range got {
		out[i] = nadv1.NetworkStatus{Name: a.key, Interface: a.iface}
		for _, p := range append(addrs(a.result.Addrs), addrs(a.result.Static)...) {
			out[i].IPs = append(out[i].IPs, p.String())
		}
	}
	b, err := json.Marshal(out)
	if err != nil {
		panic(err) // plain strings
	}
	return string(b)
}
