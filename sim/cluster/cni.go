package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster/checker"
	"ipamsim/sim/cluster/multus"
	"ipamsim/sim/ipam"
)

// attached is one network a sandbox got.
type attached struct {
	multus.Network
	result ipam.Result
}

// asks reports whether a pod asks for networks, and so has Multus.
func (c *Cluster) asks(p *corev1.Pod) bool { return len(c.asked.By(p)) > 0 }

// networksOf lists what a pod is attached to, in order: the primary network,
// unless it lives in its host's, and those of its annotation.
func (c *Cluster) networksOf(p *corev1.Pod) []multus.Network {
	asked := c.asked.By(p)
	if c.Config.Primary == "" || p.Spec.HostNetwork {
		return asked
	}
	return append([]multus.Network{{Key: c.Config.Primary, Interface: "eth0"}}, asked...)
}

// add calls ADD for the networks in order, each a process of its own; the first failure
// ends it. Multus, who is there if the pod asks for networks, writes all of them down
// first, and after a failure calls DEL for those that were tried, whatever comes of it:
// the runtime's own DEL, which is for all of them, comes after that.
//
// Source: multus-cni, pkg/multus, CmdAdd (v4.2.3).
func (w *worker) add(ctx context.Context, st *podState) ([]attached, error) {
	if w.c.asked.By(st.pod) == nil {
		if _, err := multus.Read(st.pod); err != nil {
			return nil, err
		}
	}
	var got []attached
	all := w.c.networksOf(st.pod)
	st.tried = true
	for i, n := range all {
		res, err := w.c.cniAdd(ctx, w.id, w.call(st, n))
		if err != nil {
			if w.c.asks(st.pod) && ctx.Err() == nil && !errors.Is(err, errNoRuntime) {
				_ = w.delNetworks(ctx, st, all[:i+1])
			}
			return nil, err
		}
		w.c.Checker.Attach(st.container, model.Attachment{
			Network: n.Key, Interface: n.Interface, Addrs: addrs(res.Addrs), Static: addrs(res.Static), Asked: res.Asked,
		})
		got = append(got, attached{n, res})
	}
	return got, nil
}

func (w *worker) call(st *podState, n multus.Network) ipam.Call {
	return ipam.Call{
		Node: w.k.node, Pod: w.key, UID: string(st.pod.UID), Container: st.container,
		Interface: n.Interface, Network: n.Key, Config: w.c.config(n.Key),
		Unplug: func() { w.c.Checker.Detach(st.container, n.Interface) },
	}
}

func (c *Cluster) config(network string) json.RawMessage {
	for _, n := range c.Config.Networks {
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
		res, err = c.Instance.Add(ctx, g, call)
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
		return c.Instance.Del(ctx, g, call)
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
	id := sim.ActorID(c.Name(fmt.Sprintf("%s/%s/%s", verb, call.Pod, call.Interface)))
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
		c.World.Kill(id)
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
		if a.Key != c.Config.Primary || c.Config.Primary == "" {
			continue
		}
		for _, p := range a.result.Addrs {
			out = append(out, corev1.PodIP{IP: p.Addr().String()})
		}
	}
	return out
}

// statusOf is what Multus writes into the pod's annotations.
func statusOf(got []attached) string {
	out := make([]multus.Attached, len(got))
	for i, a := range got {
		out[i] = multus.Attached{Network: a.Network, Addrs: append(addrs(a.result.Addrs), addrs(a.result.Static)...)}
	}
	return multus.Status(out)
}
