package platform

import (
	"context"
	"maps"
	"slices"

	"ipamsim/sim/disk"
)

// Host is what the programs of one machine have in common: its disk.
type Host struct{ Disk *disk.Disk }

// NewHost is a machine with these files, by their paths, whose disk is nobody's
// affair: it outlives every reboot, and accesses are no messages unless a program has
// a gate.
func NewHost(files map[string][]byte) *Host {
	d := disk.New(nil, "")
	for _, path := range slices.Sorted(maps.Keys(files)) {
		d.Put(path, files[path])
	}
	return &Host{d}
}

// Files is the program's way to the files of its host.
func (p *Program) Files() *disk.Process { return p.Host.Disk.Process(p.context(), p.Gate) }

func (p *Program) context() context.Context {
	if p.Ctx == nil {
		return context.Background()
	}
	return p.Ctx
}
