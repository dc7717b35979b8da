package ipam

import (
	"ipamsim/sim/cloud"
	"ipamsim/sim/disk"
	"ipamsim/sim/local"
)

// Doors are what a run has besides the API server, for managers that are no clients of
// it alone. A manager asks for them where it opens; who asks for none has none. A nil
// function is a run without nodes of its own: a test of the adapter.
type Doors struct {
	// Disk is that of a node: what is on it survives a process, and a reboot as package
	// disk says.
	Disk func(node string) *disk.Disk
	// Sockets are those of a node.
	Sockets func(node string) *local.Sockets
	// Cloud begins the provider's API that a model of the manager's answers, once in a
	// run, where the manager opens.
	Cloud func(cloud.Options) *cloud.Cloud
}

// Uses says which doors a manager goes through: only what goes through one can be hurt
// behind it.
type Uses struct{ Disk, Cloud bool }
