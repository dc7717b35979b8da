package cri

import (
	"context"
	"path"

	"ipamsim/sim/disk"
)

// Multus writes down the networks of a sandbox when its ADD begins, and removes that file
// with the first DEL. The file matters where a machine may lose its power before the removal
// is on disk: it is back then, as are files of host-local that were removed a moment before.
// On a machine without a simulated disk (nil) the record of the sandbox is all there is.
//
// Source: multus-cni, pkg/multus, saveDelegates and consumeScratchNetConf (v4.2.3).

func (s *Sandbox) file() string { return path.Join("/var/lib/cni/multus", s.Container) }

// WriteNetworks is Multus' at the beginning of an ADD.
func (s *Sandbox) WriteNetworks(d *disk.Disk) {
	if d != nil {
		p := d.Process(context.Background(), nil)
		_ = p.MkdirAll(path.Dir(s.file()), 0o700)
		_ = p.WriteFile(s.file(), []byte("[]"), 0o600)
	}
}

// RemoveNetworks is Multus' at the end of a DEL.
func (s *Sandbox) RemoveNetworks(d *disk.Disk) {
	s.forgotten = true
	if d != nil {
		_ = d.Process(context.Background(), nil).Remove(s.file())
	}
}

// HasNetworks reports whether Multus has the file.
func (s *Sandbox) HasNetworks(d *disk.Disk) bool {
	if !s.forgotten || d == nil {
		return !s.forgotten
	}
	_, err := d.Inspect().Stat(s.file())
	return err == nil
}
