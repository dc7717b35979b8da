package nodeipam

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"ipamsim/sim"
	"ipamsim/sim/disk"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/hostlocal"
	"ipamsim/sim/kube"
)

// Commands of CNI.
const addCommand, delCommand = "ADD", "DEL"

// add reads the node's podCIDRs, and has host-local give an address of each.
//
// Source: projectcalico/calico/cni-plugin/pkg/k8s/k8s.go, CmdAddK8s and getPodCidrs, with
// usePodCIDR (v3.31).
func (i *instance) add(ctx context.Context, g *sim.Gate, c ipam.Call) (r ipam.Result, err error) {
	client, err := kubernetes.NewForConfig(kube.Config(i.env.API.Door(g)))
	if err != nil {
		return r, err
	}
	node, err := client.CoreV1().Nodes().Get(ctx, c.Node, metav1.GetOptions{})
	if err != nil {
		return r, err
	}
	if len(node.Spec.PodCIDRs) == 0 {
		return r, fmt.Errorf("no podCidr for node %s", c.Node)
	}
	out, err := i.exec(ctx, g, addCommand, c, node.Spec.PodCIDRs)
	if err != nil && strings.Contains(err.Error(), "no IP addresses available in range set") {
		err = fmt.Errorf("%w: %w", ipam.ErrExhausted, err)
	}
	if err != nil {
		return r, err
	}
	var result struct {
		IPs []struct{ Address netip.Prefix }
	}
	if err := json.Unmarshal(out, &result); err != nil {
		return r, err
	}
	for _, ip := range result.IPs {
		r.Addrs = append(r.Addrs, ip.Address)
	}
	return r, nil
}

// anywhere is the range of a DEL: host-local finds what it has given by the container.
const anywhere = "0.0.0.0/0"

// del has host-local release what the container was given.
//
// Source: as of add, CmdDelK8s.
func (i *instance) del(ctx context.Context, g *sim.Gate, c ipam.Call) error {
	_, err := i.exec(ctx, g, delCommand, c, []string{anywhere})
	return err
}

// exec executes host-local on the node's disk.
func (i *instance) exec(ctx context.Context, g *sim.Gate, command string, c ipam.Call, subnets []string) ([]byte, error) {
	config, err := hostLocalConfig(c.Config, subnets)
	if err != nil {
		return nil, err
	}
	return hostlocal.Exec(ctx, g, i.disk(c.Node), hostlocal.Call{Command: command, Container: c.Container, Interface: c.Interface, Config: config})
}

// hostLocalConfig is the network's configuration with a range set for each subnet.
func hostLocalConfig(network json.RawMessage, subnets []string) ([]byte, error) {
	type set []map[string]string
	config := map[string]any{}
	if err := json.Unmarshal(network, &config); err != nil {
		return nil, err
	}
	var sets []set
	for _, s := range subnets {
		sets = append(sets, set{{"subnet": s}})
	}
	config["ipam"] = map[string]any{"type": hostlocal.Name, "ranges": sets}
	return json.Marshal(config)
}

// disk is that of a node. Without nodes of the run's own it is nobody's affair.
func (i *instance) disk(node string) *disk.Disk {
	i.mu.Lock()
	defer i.mu.Unlock()
	d := i.disks[node]
	if d == nil && i.env.Disk != nil {
		d = i.env.Disk(node)
	} else if d == nil {
		d = disk.New(nil, node)
	}
	i.disks[node] = d
	return d
}
