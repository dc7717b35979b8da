package canary

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"path"

	"ipamsim/sim"
	"ipamsim/sim/cloud"
	"ipamsim/sim/ipam"
)

// notes are the places where a network records the addresses of its containers in addition to its
// ledger: a file of the node, and a cloud where each address must be registered. If a record
// cannot be written, an ADD fails and a DEL is retried.
type notes struct {
	Files bool `json:"files"`
	Cloud bool `json:"cloud"`
}

// notesDir is on the disk of each node.
const notesDir = "/var/lib/cni"

func noteFile(c ipam.Call) string { return path.Join(notesDir, c.Container+"-"+c.Interface) }

// assign and unassign are what the cloud can do.
var operations = map[string]cloud.Operation{
	"assign": {Handle: func(c *cloud.Call) (any, error) {
		var r cloud.Resource
		if err := c.Decode(&r); err != nil {
			return nil, err
		}
		return r.ID, c.Put(r)
	}},
	"unassign": {Handle: func(c *cloud.Call) (any, error) {
		var r cloud.Resource
		if err := c.Decode(&r); err != nil {
			return nil, err
		}
		for _, have := range c.List(cloud.Address, r.In) {
			if err := c.Delete(cloud.Address, have.ID); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}},
}

func (i *instance) note(ctx context.Context, g *sim.Gate, n notes, c ipam.Call, a netip.Addr) error {
	if n.Files {
		if err := i.backends.Disk(c.Node).Process(ctx, g).WriteFile(noteFile(c), []byte(a.String()), 0o600); err != nil {
			return err
		}
	}
	if n.Cloud {
		return i.cloud.Call(ctx, g, "assign", cloud.Resource{Kind: cloud.Address, ID: a.String(), In: c.Container}, nil)
	}
	return nil
}

func (i *instance) unnote(ctx context.Context, g *sim.Gate, n notes, c ipam.Call) error {
	if n.Cloud {
		if err := i.cloud.Call(ctx, g, "unassign", cloud.Resource{Kind: cloud.Address, In: c.Container}, nil); err != nil {
			return err
		}
	}
	if n.Files {
		if err := i.backends.Disk(c.Node).Process(ctx, g).Remove(noteFile(c)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
