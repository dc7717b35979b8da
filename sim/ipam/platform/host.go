package platform

import (
	"context"
	"maps"
	"slices"

	"ipamsim/sim/disk"
)

// Host is the state that the programs of one machine share: its disk.
type Host struct{ Disk *disk.Disk }

// NewHost returns a machine with files, by their paths. Its disk does not belong to a node of the
// run: it outlives every reboot, and an access is a message only if the program has a gate.
func NewHost(files map[string][]byte) *Host {
	d := disk.New(nil, "")
	for _, path := range slices.Sorted(maps.Keys(files)) {
		d.Put(path, files[path])
	}
	return &Host{d}
}

// Files gives the program access to the files of its host.
func (p *Program) Files() *disk.Process { return p.Host.Disk.Process(p.context(), p.Gate) }

func (p *Program) context() context.Context {
	if p.Ctx == nil {
		return context.Background()
	}
	return p.Ctx
}
