package ipam

import (
	"ipamsim/sim/cloud"
	"ipamsim/sim/disk"
	"ipamsim/sim/local"
)

// Backends are the services that a run offers in addition to the API server. A manager requests
// them in Open; the run creates only those. In a run without nodes, a test of the adapter, a
// function is nil.
type Backends struct {
	// Disk returns the disk of a node. Its files survive the process, and a reboot as package
	// disk describes.
	Disk func(node string) *disk.Disk
	// Sockets returns the sockets of a node.
	Sockets func(node string) *local.Sockets
	// Cloud starts the provider's API, which the manager's model answers. Open calls it, once
	// in a run.
	Cloud func(cloud.Options) *cloud.Cloud
}

// Uses lists the backends that a manager uses: faults of a backend affect only its users.
type Uses struct{ Disk, Cloud bool }
