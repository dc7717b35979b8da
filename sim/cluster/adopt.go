package cluster

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/sim/cluster/cri"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/cluster/multus"
	"ipamsim/sim/ipam"
)

// A cluster need not begin empty. A pod whose manifest has the status of a pod that runs on a
// node is adopted: its sandbox is there from the start, with the addresses in the status, and
// its kubelet treats it as any other. No ADD runs for it.

// ContainerAnnotation names the sandbox of a pod that runs already in a manifest. Where it
// is missing, the manager's own does (ipam.Annotations).
const ContainerAnnotation = "ipamsim.dev/containerID"

// adopt takes over the running pods of a node: sandboxes of the primary network and of those that
// pods request, and the node's own devices. On a node that is off nothing runs; its disk keeps the
// sandboxes that the node must clean up when it is back.
//
// left (ipam.Instance.Adopt) writes what the CNI plugin leaves of a sandbox in addition to
// claims; nil leaves that out.
func (c *Cluster) adopt(name string, pods []*corev1.Pod, left func(context.Context, ipam.Call, []netip.Addr) error) error {
	c.mu.Lock()
	n := c.nodes[name]
	obj := n.object
	c.mu.Unlock()
	up := c.Up(name)
	for _, p := range pods {
		if runs(p) {
			if err := c.adoptPod(name, p, up, left); err != nil {
				return fmt.Errorf("cluster: adopt %s: %w", kubeapi.Ref(p), err)
			}
		}
	}
	if devices := c.Config.Manager.Devices; devices != nil && obj != nil {
		for _, d := range devices(obj) {
			c.Checker.Device(name, d.Handle, d.Addr)
		}
	}
	return nil
}

// runs reports whether a stored pod has a sandbox, according to its status.
func runs(p *corev1.Pod) bool {
	addressed := len(p.Status.PodIPs) > 0 || p.Status.PodIP != "" || p.Annotations[multus.StatusAnnotation] != ""
	return p.Status.Phase == corev1.PodRunning || addressed && !kubeapi.Finished(p)
}

func (c *Cluster) adoptPod(node string, p *corev1.Pod, up bool, left func(context.Context, ipam.Call, []netip.Addr) error) error {
	st := &cri.Sandbox{Pod: p, Container: c.containerOf(p, node), Tried: true, Result: true, Unmounted: !up}
	sb := model.Sandbox{ID: st.Container, Pod: kubeapi.Ref(p), UID: string(p.UID), Node: node}
	for i, w := range c.networksOf(p) {
		if a := c.foundAt(p, w, i); len(a.Addrs)+len(a.Static) > 0 {
			sb.Attachments = append(sb.Attachments, a)
		}
	}
	c.remember(node, st)
	if !up {
		return nil
	}
	c.Checker.SandboxFound(sb)
	if left == nil {
		return nil
	}
	for _, a := range sb.Attachments {
		call := ipam.Call{
			Node: node, Pod: sb.Pod, UID: sb.UID, Container: sb.ID,
			Interface: a.Interface, Network: a.Network, Config: c.config(a.Network),
		}
		if err := left(context.Background(), call, append(slices.Clone(a.Addrs), a.Static...)); err != nil {
			return err
		}
	}
	return nil
}

// containerOf is the id of a pod's sandbox: the one in its manifest, unless another pod has the
// same, or a generated one.
func (c *Cluster) containerOf(p *corev1.Pod, node string) string {
	for _, key := range []string{ContainerAnnotation, c.Config.Manager.Annotations.Container} {
		if id := p.Annotations[key]; id != "" && !c.Checker.HasSandbox(id) {
			return id
		}
	}
	return c.newContainer(p, node)
}

// foundAt is the attachment of a pod to its i-th network, from its status: podIPs for the primary
// network, Multus' annotation for the others.
func (c *Cluster) foundAt(p *corev1.Pod, w multus.Network, i int) model.Attachment {
	a := model.Attachment{Network: w.Key, Interface: w.Interface}
	var ips []string
	if primary := c.Config.Primary != "" && i == 0 && w.Key == c.Config.Primary; primary {
		says := c.Config.Manager.Annotations
		a.Asked = p.Annotations[says.Addresses] != ""
		if past := p.Annotations[says.Static]; past != "" {
			a.Static = ipam.PastIPAM(past)
			return a
		}
		for _, ip := range p.Status.PodIPs {
			ips = append(ips, ip.IP)
		}
		if len(ips) == 0 && p.Status.PodIP != "" {
			ips = []string{p.Status.PodIP}
		}
	}
	if len(ips) == 0 {
		nth := 0
		for _, before := range c.networksOf(p)[:i] {
			if before.Key == w.Key {
				nth++
			}
		}
		ips = multus.Addresses(p, w, nth)
	}
	static := ipam.Static(c.config(w.Key))
	for _, s := range ips {
		addr, err := netip.ParseAddr(s)
		switch addr = addr.Unmap(); {
		case err != nil:
		case slices.Contains(static, addr):
			a.Static = append(a.Static, addr)
		default:
			a.Addrs = append(a.Addrs, addr)
		}
	}
	return a
}
