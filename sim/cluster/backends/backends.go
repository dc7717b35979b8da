// Package backends holds what a manager uses without the API server: the disks and the
// sockets of machines, and the provider's API. Each is created on first use.
package backends

import (
	"maps"
	"slices"
	"sync"

	"ipamsim/sim"
	"ipamsim/sim/cloud"
	"ipamsim/sim/disk"
	"ipamsim/sim/ipam"
	"ipamsim/sim/local"
)

// Set holds the backends that the manager of one cluster has requested.
type Set struct {
	world   *sim.World
	mu      sync.Mutex
	disks   map[string]*disk.Disk
	sockets map[string]*local.Sockets
	clouds  []*cloud.Cloud // more than one where several managers run
}

// Install writes the files that a machine has at the start (ipam.FilesAnnotation of its Node).
func (d *Set) Install(node string, annotations map[string]string) error {
	files, err := ipam.Files(annotations)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		d.Disk(node).Put(name, []byte(files[name]))
	}
	return err
}

// New returns an empty set.
func New(w *sim.World) *Set {
	return &Set{world: w, disks: map[string]*disk.Disk{}, sockets: map[string]*local.Sockets{}}
}

// IPAM returns the functions by which an adapter requests them.
func (d *Set) IPAM() ipam.Backends {
	return ipam.Backends{
		Disk: d.Disk,
		Sockets: func(node string) *local.Sockets {
			return known(d, d.sockets, node, func() *local.Sockets { return local.New(node) })
		},
		Cloud: func(o cloud.Options) *cloud.Cloud {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.clouds = append(d.clouds, cloud.New(d.world, o))
			return d.clouds[len(d.clouds)-1]
		},
	}
}

// known returns the entry of a node, created on first use.
func known[T any](d *Set, all map[string]T, node string, make func() T) T {
	d.mu.Lock()
	defer d.mu.Unlock()
	x, ok := all[node]
	if !ok {
		x = make()
		all[node] = x
	}
	return x
}

// Disk is the disk of a node.
func (d *Set) Disk(node string) *disk.Disk {
	return known(d, d.disks, node, func() *disk.Disk { return disk.New(d.world, node) })
}

// Used is the disk of a node, nil if nothing has asked for it.
func (d *Set) Used(node string) *disk.Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.disks[node]
}

// Revision of all disks together: it never falls.
func (d *Set) Revision() (sum int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range d.disks {
		sum += x.Revision()
	}
	return sum
}

// Lose is what becomes of a node's disk with its power.
func (d *Set) Lose(node string, forget bool, l disk.Loss) {
	switch disk := d.Used(node); {
	case disk == nil:
	case forget:
		disk.Reimage()
	default:
		disk.PowerLoss(l)
	}
}

// Clouds are the providers' APIs that the manager calls.
func (d *Set) Clouds() []*cloud.Cloud { return d.clouds }
