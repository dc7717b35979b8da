package hostlocal

import (
	"context"
	"net/netip"
	"strings"

	"ipamsim/model"
	"ipamsim/sim/disk"
)

// DataDir is where it keeps a file for each address of a network that it has given away: the
// container, and its interface.
func DataDir(network string) string { return "/var/lib/cni/networks/" + network }

// Claims are what the files of a network say on a node's disk, sorted by file, read past the
// gate: address, container and interface. A file that does not end as host-local ends it
// names nobody. It is fs.ErrNotExist where it has never run.
func Claims(d *disk.Disk, network string) (out []model.Claim, err error) {
	files := d.Process(context.Background(), nil)
	dir, err := files.ReadDir(DataDir(network))
	if err != nil {
		return nil, err
	}
	for _, f := range dir {
		a, err := netip.ParseAddr(f.Name())
		if err != nil {
			continue // the lock, the last reserved address
		}
		content, err := files.ReadFile(DataDir(network) + "/" + f.Name())
		if err != nil {
			return nil, err
		}
		c := model.Claim{Addr: a}
		c.Container, c.Interface, _ = strings.Cut(string(content), "\r\n")
		out = append(out, c)
	}
	return out, nil
}
