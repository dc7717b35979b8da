package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster/checker"
	"ipamsim/sim/cluster/cri"
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

// networksOf lists the networks of a pod, in order: the primary network, unless the pod uses
// the host network, and those of its annotation.
func (c *Cluster) networksOf(p *corev1.Pod) []multus.Network {
	asked := c.asked.By(p)
	if c.Config.Primary == "" || p.Spec.HostNetwork {
		return asked
	}
	return append([]multus.Network{{Key: c.Config.Primary, Interface: "eth0"}}, asked...)
}

// add calls ADD for the networks in order, each in its own process; the first failure ends it.
// Multus, which is involved if the pod requests networks, first writes all of them to a file. After
// a failure it calls DEL for those that were called and ignores errors. After that the runtime
// calls DEL for all networks.
//
// Source: multus-cni, pkg/multus, CmdAdd (v4.2.3).
func (w *worker) add(ctx context.Context, st *cri.Sandbox) ([]attached, error) {
	if w.c.asked.By(st.Pod) == nil {
		if _, err := multus.Read(st.Pod); err != nil {
			return nil, err
		}
	}
	var got []attached
	all := w.c.networksOf(st.Pod)
	st.Tried = true
	if w.c.asks(st.Pod) {
		st.WriteNetworks(w.disk())
	}
	until := w.c.World.Now() + makeLimit
	for i, n := range all {
		res, err := w.c.cniAdd(ctx, w.call(st, n, until))
		if err != nil {
			if w.c.asks(st.Pod) && ctx.Err() == nil && !errors.Is(err, errNoRuntime) && !errors.Is(err, errDeadline) {
				_ = w.delNetworks(ctx, st, all[:i+1], until)
			}
			return nil, err
		}
		w.c.Checker.Attach(st.Container, model.Attachment{
			Network: n.Key, Interface: n.Interface, Addrs: ipam.Addrs(res.Addrs), Static: ipam.Addrs(res.Static), Asked: res.Asked, OfPool: res.OfPool,
		})
		got = append(got, attached{n, res})
	}
	return got, nil
}

// cniCall is one call of a plugin.
type cniCall struct {
	ipam.Call
	by     sim.ActorID   // the process that waits for it
	until  time.Duration // when the runtime kills the plugin
	multus bool          // Multus is between the runtime and the plugin
}

func (w *worker) call(st *cri.Sandbox, n multus.Network, until time.Duration) cniCall {
	return cniCall{ipam.Call{
		Node: w.k.node, Pod: w.key, UID: string(st.Pod.UID), Container: st.Container,
		Interface: n.Interface, Network: n.Key, Config: w.c.config(n.Key), Netns: st.Netns(),
		Unplug: func() { w.c.Checker.Detach(st.Container, n.Interface) },
	}, w.id, until, w.c.asks(st.Pod)}
}

func (c *Cluster) config(network string) json.RawMessage {
	for _, n := range c.Config.Networks {
		if n.Key == network {
			return n.Config
		}
	}
	return nil
}

func (c *Cluster) cniAdd(ctx context.Context, call cniCall) (res ipam.Result, err error) {
	if call.Config == nil {
		return res, fmt.Errorf("network-attachment-definition %q not found", call.Network)
	}
	var got ipam.Result
	a, err := c.exec(ctx, checker.AddKind, call, func(ctx context.Context, g *sim.Gate) (err error) {
		got, err = c.Instance.Add(ctx, g, call.Call)
		return err
	})
	if a == nil {
		return res, err
	}
	e := c.Checker.End(model.AddEnd, a, call.Call, err)
	if err == nil {
		res, e.Addrs = got, ipam.Addrs(got.Addrs)
	}
	c.Checker.Record(e)
	return res, err
}

func (c *Cluster) cniDel(ctx context.Context, call cniCall) error {
	a, err := c.exec(ctx, checker.DelKind, call, func(ctx context.Context, g *sim.Gate) error {
		return c.Instance.Del(ctx, g, call.Call)
	})
	if a == nil {
		return err
	}
	e := c.Checker.End(model.DelEnd, a, call.Call, err)
	if err == nil {
		c.Checker.Detach(call.Container, call.Interface)
	}
	c.Checker.Record(e)
	return err
}

// exec runs a CNI plugin in its own process and waits for it, until the call's deadline.
// The actor is nil if the caller or the runtime died first; the call has then ended as well.
//
// A caller that is dead already starts nothing. Otherwise: power fails while a kubelet stops a
// pod's containers, the kubelet unwinds, and a DEL runs on a machine that is off, with no
// process to record its end.
func (c *Cluster) exec(ctx context.Context, verb string, call cniCall, run func(context.Context, *sim.Gate) error) (*sim.Actor, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if !c.runtimeAnswers(call.Node) {
		return nil, errNoRuntime
	}
	b := c.Checker.Begin(call.Call, verb == checker.DelKind, call.by)
	id := sim.ActorID(c.Name(fmt.Sprintf("%s/%s/%s", verb, call.Pod, call.Interface)))
	a := c.spawnUpstream(id, call.Node, func(ctx context.Context, g *sim.Gate) (err error) {
		if !call.multus {
			return run(ctx, g)
		}
		g.Child(func() { err = run(ctx, g) })
		return err
	})
	c.Checker.Begun(b, a)
	late := time.NewTimer(call.until - c.World.Now())
	defer late.Stop()
	select {
	case <-a.Done():
	case <-b.Lost:
	case <-ctx.Done():
	case <-late.C:
	}
	select {
	case <-b.Lost:
		return nil, cmp.Or(ctx.Err(), errNoRuntime)
	default:
	}
	if ctx.Err() != nil {
		_ = c.killPlugin(id)
		c.Checker.Drop(b)
		return nil, ctx.Err()
	}
	select {
	case <-a.Done():
		return a, a.Err()
	default:
		return a, fmt.Errorf("%w: %w", errDeadline, c.killPlugin(id))
	}
}

// errDeadline is the error of a call that the runtime has ended because it took too long.
var errDeadline = context.DeadlineExceeded

// errKilled is what a killed plugin ends with whose own child is not killed.
var errKilled = fmt.Errorf("%w; the plugin that it had started runs on", sim.ErrKilled)

// killPlugin kills the plugin that the runtime has started, and no other: an IPAM plugin
// that is its child, or a plugin behind Multus, ends by itself, without a caller.
//
// Source: containernetworking/cni, pkg/invoke/raw_exec.go, ExecPlugin (v1.3.0).
func (c *Cluster) killPlugin(id sim.ActorID) error {
	if c.World.KillOne(id) {
		return errKilled
	}
	return sim.ErrKilled
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
		out[i] = multus.Attached{Network: a.Network, Addrs: append(ipam.Addrs(a.result.Addrs), ipam.Addrs(a.result.Static)...)}
	}
	return multus.Status(out)
}
