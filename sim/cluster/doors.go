package cluster

import (
	"sync"

	"ipamsim/sim/cloud"
	"ipamsim/sim/disk"
	"ipamsim/sim/ipam"
	"ipamsim/sim/local"
)

// doors are the disks and sockets of machines and the provider's API: those that the
// manager has asked for.
type doors struct {
	mu      sync.Mutex
	disks   map[string]*disk.Disk
	sockets map[string]*local.Sockets
	clouds  []*cloud.Cloud // more than one where several managers run
}

// of is what an adapter gets of them.
func (d *doors) of(c *Cluster) ipam.Doors {
	d.disks, d.sockets = map[string]*disk.Disk{}, map[string]*local.Sockets{}
	return ipam.Doors{
		Disk: func(node string) *disk.Disk { return d.made(c, node) },
		Sockets: func(node string) *local.Sockets {
			return known(d, d.sockets, node, func() *local.Sockets { return local.New(node) })
		},
		Cloud: func(o cloud.Options) *cloud.Cloud {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.clouds = append(d.clouds, cloud.New(c.World, o))
			return d.clouds[len(d.clouds)-1]
		},
	}
}

// known is a node's, made when it is asked for first.
func known[T any](d *doors, all map[string]T, node string, make func() T) T {
	d.mu.Lock()
	defer d.mu.Unlock()
	x, ok := all[node]
	if !ok {
		x = make()
		all[node] = x
	}
	return x
}

// made is the disk of a node.
func (d *doors) made(c *Cluster, node string) *disk.Disk {
	return known(d, d.disks, node, func() *disk.Disk { return disk.New(c.World, node) })
}

// used is that of a node, nil if nobody has asked for it.
func (d *doors) used(node string) *disk.Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.disks[node]
}

// revision of all disks together: it never falls.
func (d *doors) revision() (sum int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range d.disks {
		sum += x.Revision()
	}
	return sum
}

// lose is what becomes of a node's disk with its power.
func (d *doors) lose(node string, forget bool, l disk.Loss) {
	switch disk := d.used(node); {
	case disk == nil:
	case forget:
		disk.Reimage()
	default:
		disk.PowerLoss(l)
	}
}

// Disk is the disk of a node.
func (c *Cluster) Disk(node string) *disk.Disk { return c.doors.made(c, node) }

// UsedDisk is the disk of a node if somebody has asked for it, or nil.
func (c *Cluster) UsedDisk(node string) *disk.Disk { return c.doors.used(node) }

// Clouds are the providers' APIs that the manager calls.
func (c *Cluster) Clouds() []*cloud.Cloud { return c.doors.clouds }
