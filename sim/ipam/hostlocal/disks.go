package hostlocal

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"ipamsim/sim"
	"ipamsim/sim/disk"
	"ipamsim/sim/ipam"
)

// Disks are the disks of the nodes on which host-local has run.
type Disks struct {
	open func(node string) *disk.Disk

	mu  sync.Mutex // never held while a message is parked
	all map[string]*disk.Disk
}

// NewDisks returns the disks of a run. If backends has no disks of nodes, it creates private ones.
func NewDisks(backends ipam.Backends) *Disks {
	d := &Disks{open: backends.Disk, all: map[string]*disk.Disk{}}
	if d.open == nil {
		d.open = func(node string) *disk.Disk { return disk.New(nil, node) }
	}
	return d
}

// Of is the disk of a node.
func (d *Disks) Of(node string) *disk.Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all[node] == nil {
		d.all[node] = d.open(node)
	}
	return d.all[node]
}

// each returns every disk, by the name of its node.
func (d *Disks) each() (out []*disk.Disk) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, node := range slices.Sorted(maps.Keys(d.all)) {
		out = append(out, d.all[node])
	}
	return out
}

// Add executes host-local for a call of a container runtime, with a configuration that
// names the ranges. The error is upstream's; it is ipam.ErrExhausted if a range is full.
func (d *Disks) Add(ctx context.Context, g *sim.Gate, c ipam.Call, config []byte) (r ipam.Result, err error) {
	out, err := d.exec(ctx, g, "ADD", c, config)
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

// Del executes host-local to release what a container has.
func (d *Disks) Del(ctx context.Context, g *sim.Gate, c ipam.Call, config []byte) error {
	_, err := d.exec(ctx, g, "DEL", c, config)
	return err
}

// exec executes host-local as the child of the plugin that the runtime has called.
func (d *Disks) exec(ctx context.Context, g *sim.Gate, command string, c ipam.Call, config []byte) (out []byte, err error) {
	g.Child(func() {
		out, err = Exec(ctx, g, d.Of(c.Node), Call{Command: command, Container: c.Container, Interface: c.Interface, Config: config})
	})
	return out, err
}
