package hostlocal

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"path"

	"github.com/containernetworking/plugins/pkg/ip"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"ipamsim/model/act"
	"ipamsim/sim"
	"ipamsim/sim/disk"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// New is host-local as an address manager.
func New() *ipam.Manager {
	return &ipam.Manager{
		Name: Name, Upstream: upstreamVersion(), Sources: sources(),
		Network: network, Primary: primary, CheckCommand: checkCommand, Read: read, Adopts: adopts, Uses: ipam.Uses{Disk: true}, Open: open,
	}
}

//go:embed copies.txt
var copies string

// sources are the copies of upstream's packages here.
func sources() []ipam.Source {
	upstream := ipam.Source{Module: upstreamVersion(), Package: Module, Root: root()}
	return append([]ipam.Source{upstream}, ipam.CopiedHere(upstream, "ipamsim/sim/ipam/hostlocal", copies)...)
}

// root is the folder of upstream's module.
func root() string { return ipam.Root(Module, ip.NextIP) }

// upstreamVersion is "github.com/containernetworking/plugins@v1.10.0", as the build knows it.
func upstreamVersion() string { return ipam.Linked(Module, root()) }

// open starts the manager in one run. It starts no goroutine.
func open(env ipam.Env) (ipam.Instance, error) {
	i := &instance{env: env, disks: NewDisks(env.Backends), places: map[string]Place{}, config: map[string]json.RawMessage{}}
	places := []Place{}
	for _, n := range env.Networks {
		p, err := plugin(env.Config(n.Key), path.Base(n.Key))
		if err != nil {
			return ipam.Instance{}, err
		}
		place, err := found(n, p)
		if err != nil {
			return ipam.Instance{}, err
		}
		if i.config[n.Key], err = json.Marshal(p); err != nil {
			return ipam.Instance{}, err
		}
		places, i.places[n.Key] = append(places, place), place
	}
	record, err := NewRecord(env.API, i.disks, places)
	if err != nil {
		return ipam.Instance{}, err
	}
	return ipam.Instance{
		Add: i.add, Del: i.del, Observe: record.Observe, Act: i.act, Adopt: i.adopt, Command: i.command,
	}, nil
}

// instance is the manager in one run.
type instance struct {
	env    ipam.Env
	disks  *Disks
	places map[string]Place           // by network
	config map[string]json.RawMessage // of the plugin that calls host-local, by network
}

// add executes host-local with the ranges of the configuration, or those of the node.
func (i *instance) add(ctx context.Context, g *sim.Gate, c ipam.Call) (r ipam.Result, err error) {
	config := i.config[c.Network]
	if i.places[c.Network].PodCIDRs {
		cidrs, err := PodCIDRs(ctx, i.env.API.Transport(g), c.Node)
		if err != nil {
			return r, &ipam.Unasked{Err: err}
		}
		if len(cidrs) == 0 {
			return r, &ipam.Unasked{Err: fmt.Errorf("node %s has no podCIDR", c.Node)}
		}
		if config, err = WithSubnets(config, cidrs); err != nil {
			return r, err
		}
	}
	return i.disks.Add(ctx, g, c, config)
}

// PodCIDRs reads the pod CIDRs of a node from the API server.
func PodCIDRs(ctx context.Context, api http.RoundTripper, node string) ([]string, error) {
	client, err := kubernetes.NewForConfig(kube.Config(api))
	if err != nil {
		return nil, err
	}
	n, err := client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return n.Spec.PodCIDRs, nil
}

// Anywhere is the range of a DEL: host-local finds the address by its container.
const Anywhere = "0.0.0.0/0"

// del has host-local release what the container was given.
func (i *instance) del(ctx context.Context, g *sim.Gate, c ipam.Call) (err error) {
	config := i.config[c.Network]
	if i.places[c.Network].PodCIDRs {
		if config, err = WithSubnets(config, []string{Anywhere}); err != nil {
			return err
		}
	}
	return i.disks.Del(ctx, g, c, config)
}

// adopt writes the files of a sandbox that runs already, as its ADD did, unless they are
// there.
func (i *instance) adopt(ctx context.Context, c ipam.Call, addrs []netip.Addr) error {
	files, dir := i.disks.Of(c.Node).Process(ctx, nil), i.places[c.Network].Dir
	if err := files.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, a := range addrs {
		name := path.Join(dir, a.String())
		if _, err := files.Stat(name); err == nil {
			continue
		}
		if err := files.WriteFile(name, []byte(c.Container+"\r\n"+c.Interface), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// act is what the disk says of an access to a file.
func (i *instance) act(detail any) act.Act {
	if x, ok := detail.(disk.Access); ok {
		return x.Act()
	}
	return act.Act{}
}
