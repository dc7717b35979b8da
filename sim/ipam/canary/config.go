package canary

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation"

	"ipamsim/model"
)

// policy is what one network's configuration asks for.
type policy struct {
	network model.Network
	bug     string
	notes   notes
}

// span is the network's only range.
func (p *policy) span() model.Range { return p.network.Ranges[0] }

// config is the ipam section of a CNI configuration.
type config struct {
	Type        string         `json:"type"`
	Range       netip.Prefix   `json:"range"`
	Exclude     []netip.Prefix `json:"exclude"`
	NetworkName string         `json:"network_name"`
	Slice       int            `json:"slice"`    // prefix length of node slices, 0 when off
	Assigned    bool           `json:"assigned"` // with slices: every node is to have one
	Blocks      int            `json:"blocks"`   // prefix length of blocks, 0 when off
	Strict      bool           `json:"strict"`   // with blocks: StrictAffinity
	MaxBlocks   int            `json:"maxBlocks"`
	Bug         string         `json:"bug"`
	notes
}

// parse reads a NetworkAttachmentDefinition's CNI configuration. ok is false if
// it is another manager's.
//
// Overlapping ranges are always guarded, and the first and the last address of
// the range are never handed out. The bugs that need a particular network say so
// here, so that none is silently harmless: excluded-address wants an exclude,
// and slice-conflict halves the range if no slice length is given. Those about
// blocks quarter the range if no block length is given.
//
// With blocks there are no reservations, and every address of a block is handed
// out that is not excluded.
func parse(key string, raw json.RawMessage) (p policy, ok bool, err error) {
	var cni struct {
		IPAM json.RawMessage `json:"ipam"`
	}
	var kind struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(raw, &cni) != nil || json.Unmarshal(cni.IPAM, &kind) != nil || kind.Type != "canary" {
		return policy{}, false, nil
	}
	var c config
	d := json.NewDecoder(bytes.NewReader(cni.IPAM))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return policy{}, true, fmt.Errorf("canary: %s: ipam: %w", key, err)
	}
	if err := c.check(); err != nil {
		return policy{}, true, fmt.Errorf("canary: %s: ipam: %w", key, err)
	}
	if c.Bug == "slice-conflict" && c.Slice == 0 {
		c.Slice = c.Range.Bits() + 1
	}
	if bugs[c.Bug].blocks && c.Blocks == 0 {
		c.Blocks = c.Range.Bits() + 2
	}
	r := model.Range{
		Prefix: c.Range, Exclude: c.Exclude,
		Start: c.Range.Addr().Next(), End: model.LastAddr(c.Range).Prev(),
	}
	n := model.Network{Key: key, Name: c.NetworkName, Ranges: []model.Range{r}, Overlap: c.Blocks == 0, Slice: c.Slice}
	if c.Assigned {
		n.Ranges[0].Slice = c.Slice
	}
	if c.Blocks > 0 {
		n.Blocks = c.blocks()
		n.Ranges[0].Start, n.Ranges[0].End = c.Range.Addr(), model.LastAddr(c.Range)
	}
	return policy{network: n, bug: c.Bug, notes: c.notes}, true, nil
}

// blocks is the policy of a network with blocks; the nodes are the cluster's.
func (c *config) blocks() *model.BlockPolicy {
	four := c.Range.Addr().Is4()
	return &model.BlockPolicy{
		Pools:  []model.IPPool{{Name: poolName("", c.Range), Prefix: c.Range, BlockBits: c.Blocks, Workloads: true}},
		Strict: c.Strict, AutoAllocate: true, MaxBlocks: cmp.Or(c.MaxBlocks, model.MaxBlocksDefault), Reserved: c.Exclude,
		V4: four, V6: !four,
	}
}

func (c *config) check() error {
	usable := c.Range.Addr().BitLen() - 2 // at least two addresses between first and last
	_, known := bugs[c.Bug]
	switch {
	case !c.Range.IsValid():
		return fmt.Errorf("range: missing")
	case c.Range != c.Range.Masked():
		return fmt.Errorf("range: %s has host bits, want %s", c.Range, c.Range.Masked())
	case c.Range.Bits() > usable:
		return fmt.Errorf("range: %s is too small, want /%d or wider", c.Range, usable)
	case c.Slice != 0 && (c.Slice < c.Range.Bits() || c.Slice > usable):
		return fmt.Errorf("slice: %d, want %d to %d", c.Slice, c.Range.Bits(), usable)
	case c.Blocks != 0 && (c.Blocks < c.Range.Bits() || c.Blocks > c.Range.Addr().BitLen() || c.Slice != 0):
		return fmt.Errorf("blocks: %d, want %d to %d, and no slice", c.Blocks, c.Range.Bits(), c.Range.Addr().BitLen())
	case c.Blocks == 0 && !bugs[c.Bug].blocks && (c.Strict || c.MaxBlocks != 0):
		return fmt.Errorf("blocks: missing, and strict and maxBlocks need them")
	case c.Slice == 0 && (c.Assigned || c.Bug == "unassigned-node"):
		return fmt.Errorf("slice: missing, and assigned and bug unassigned-node need it")
	case c.MaxBlocks < 0:
		return fmt.Errorf("maxBlocks: %d is negative", c.MaxBlocks)
	case c.Bug != "" && !known:
		return fmt.Errorf("bug: %q, want one of %v", c.Bug, Bugs())
	case c.Blocks != 0 && bugs[c.Bug].ranges:
		return fmt.Errorf("blocks: %d, and bug %q needs a network without", c.Blocks, c.Bug)
	case bugs[c.Bug].blocks && c.Blocks == 0 && c.Range.Bits() > usable-1:
		return fmt.Errorf("range: %s cannot be quartered, which bug %q needs", c.Range, c.Bug)
	case c.Bug == "excluded-address" && len(c.Exclude) == 0:
		return fmt.Errorf("exclude: missing, and bug %q needs one", c.Bug)
	case c.Bug == "slice-conflict" && c.Slice == 0 && c.Range.Bits() == usable:
		return fmt.Errorf("range: %s cannot be halved, which bug %q needs", c.Range, c.Bug)
	case c.Bug == "double-claim" && c.Range.Bits() == 0:
		return fmt.Errorf("range: %s cannot be doubled, which bug %q needs", c.Range, c.Bug)
	}
	if c.NetworkName != "" {
		if why := validation.IsDNS1123Subdomain(c.NetworkName); len(why) > 0 {
			return fmt.Errorf("network_name: %q: %s", c.NetworkName, why[0])
		}
	}
	for i, x := range c.Exclude {
		if !x.IsValid() || !c.Range.Overlaps(x) {
			return fmt.Errorf("exclude[%d]: %s is outside of %s", i, x, c.Range)
		}
	}
	return nil
}
