// Package hostlocal is the host-local IPAM plugin of github.com/containernetworking/plugins as an
// address manager: the main function, allocator and files of the real plugin, copied with other
// imports (copies.txt), executed on the disks of simulated nodes. Another manager that assigns
// ranges to nodes executes it as well, through Disks and Record.
//
// It serves the networks of NetworkAttachmentDefinitions, and a network of all pods from the
// ConfigMap from which network daemons read their CNI configuration (cni-conf.json); if that has no
// ranges, a node's ranges are its podCIDRs. Package interfaceplugin has the interface plugins that
// execute it. A bridge or ptp plugin of a NetworkAttachmentDefinition counts as a separate layer-2
// segment on each node.
package hostlocal

import (
	"context"
	"fmt"
	_ "unsafe" // for linkname

	"ipamsim/sim"
	"ipamsim/sim/disk"
	_ "ipamsim/sim/ipam/hostlocal/upstream/program" // called by name
	"ipamsim/sim/ipam/platform"
)

// Name is how a network's configuration names the plugin, and its module.
const (
	Name   = "host-local"
	Module = "github.com/containernetworking/plugins"
)

//go:linkname main ipamsim/sim/ipam/hostlocal/upstream/program.main
func main()

// Call is one execution.
type Call struct {
	Command   string // ADD, DEL, CHECK
	Container string
	Interface string
	Config    []byte // of the network, as the runtime gives it on standard input
}

// Exec executes the plugin in the process of g and ctx. Each access to a file is a message of the
// process; without a gate there are no messages.
//
// It returns what the plugin printed, and the plugin's error.
func Exec(ctx context.Context, g *sim.Gate, d *disk.Disk, c Call) ([]byte, error) {
	p := &platform.Program{
		Name: Name, Host: &platform.Host{Disk: d}, Ctx: ctx, Gate: g, Stdin: c.Config,
		Env: map[string]string{
			"CNI_COMMAND": c.Command, "CNI_CONTAINERID": c.Container, "CNI_IFNAME": c.Interface,
			"CNI_NETNS": "/var/run/netns/" + c.Container, "CNI_PATH": "/opt/cni/bin", "CNI_NETNS_OVERRIDE": "true",
		},
		Crash: func(v any, _ string) { panic(v) },
	}
	if g != nil {
		p.Crash = g.Crash
	}
	end := p.Run(main)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case end.Code != 0:
		return nil, fmt.Errorf("%s: exit status %d: %s", Name, end.Code, end.Stdout)
	}
	return end.Stdout, nil
}
