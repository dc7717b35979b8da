package hostlocal

import (
	"net/netip"
	"path"
	"strings"

	"ipamsim/model"
	"ipamsim/sim/disk"
)

// dataDir is the default folder of its allocations.
//
// Source: plugins/ipam/host-local/backend/disk, defaultDataDir (v1.10.0).
const dataDir = "/var/lib/cni/networks"

// DataDir is where it keeps a file for each address of a network that it has given away: the
// container, and its interface.
func DataDir(network string) string { return path.Join(dataDir, network) }

// Claims are what the files of a network's directory say on a node's disk, sorted by file,
// read past the gate: address, container and interface. A file that is not as host-local
// writes it is torn. It is fs.ErrNotExist where it has never run.
func Claims(d *disk.Disk, dir string) (out []model.Claim, err error) {
	files := d.Inspect()
	all, err := files.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		a, err := netip.ParseAddr(f.Name())
		if err != nil {
			continue // the lock, the last reserved address
		}
		content, err := files.ReadFile(path.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		c := model.Claim{Addr: a, Node: d.Node()}
		c.Container, c.Interface, _ = strings.Cut(string(content), "\r\n")
		c.Torn = strings.TrimSpace(c.Container) == ""
		out = append(out, c)
	}
	return out, nil
}
