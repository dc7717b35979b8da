package calico

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"ipamsim/scenarios/dump/kept"
)

// The objects of Calico's, with the fields that its allocator reads, under the
// names that they have in crd.projectcalico.org/v1 and in projectcalico.org/v3.

type poolSpec struct {
	CIDR              string   `json:"cidr"`
	BlockSize         int      `json:"blockSize,omitempty"`
	IPIPMode          string   `json:"ipipMode,omitempty"`
	VXLANMode         string   `json:"vxlanMode,omitempty"`
	NATOutgoing       bool     `json:"natOutgoing,omitempty"`
	Disabled          bool     `json:"disabled,omitempty"`
	DisableBGPExport  bool     `json:"disableBGPExport,omitempty"`
	NodeSelector      string   `json:"nodeSelector,omitempty"`
	NamespaceSelector string   `json:"namespaceSelector,omitempty"`
	AllowedUses       []string `json:"allowedUses,omitempty"`
	AssignmentMode    string   `json:"assignmentMode,omitempty"`
}

// addPool also reads the fields that pools of Calico 2 had, and that calicoctl
// still understands.
func (c *objects) addPool(h *kept.Head, raw json.RawMessage) error {
	var o struct {
		Spec struct {
			poolSpec
			IPIP *struct {
				Enabled bool   `json:"enabled"`
				Mode    string `json:"mode"`
			} `json:"ipip"`
			NAT bool `json:"nat-outgoing"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	s := o.Spec.poolSpec
	if _, err := netip.ParsePrefix(s.CIDR); err != nil {
		return h.Fail("spec.cidr", "%q is no CIDR", s.CIDR)
	}
	if old := o.Spec.IPIP; old != nil && s.IPIPMode == "" && old.Enabled {
		if s.IPIPMode = "Always"; old.Mode == "cross-subnet" {
			s.IPIPMode = "CrossSubnet"
		}
	}
	s.NATOutgoing = s.NATOutgoing || o.Spec.NAT
	c.sawCalico(h)
	return kept.Put(c.Store, c.pools, h.Metadata.Name, h, s)
}

// sawCalico remembers where Calico keeps its record, if the object says.
func (c *objects) sawCalico(h *kept.Head) { c.kdd = c.kdd || h.Group() == group }

type reservationSpec struct {
	ReservedCIDRs []string `json:"reservedCIDRs"`
}

func (c *objects) addReservation(h *kept.Head, raw json.RawMessage) error {
	var o reservationSpec
	if err := kept.SpecOf(raw, &o); err != nil {
		return err
	}
	return kept.Put(c.Store, c.reservations, h.Metadata.Name, h, o)
}

type blockSpec struct {
	CIDR            string            `json:"cidr"`
	Affinity        *string           `json:"affinity,omitempty"`
	Allocations     []*int            `json:"allocations"`
	Unallocated     []int             `json:"unallocated"`
	Attributes      []attribute       `json:"attributes"`
	SequenceNumber  uint64            `json:"sequenceNumber"`
	SequenceNumbers map[string]uint64 `json:"sequenceNumberForAllocation,omitempty"`
	Deleted         truth             `json:"deleted"`
	StrictAffinity  bool              `json:"strictAffinity"`
}

type attribute struct {
	Handle    *string           `json:"handle_id,omitempty"`
	Secondary map[string]string `json:"secondary,omitempty"`
}

// truth is a boolean that some versions of Calico wrote as text.
type truth bool

func (t *truth) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	if s == "" || s == "null" {
		*t = false
		return nil
	}
	v, err := strconv.ParseBool(s)
	if err != nil {
		return fmt.Errorf("deleted: %q is neither true nor false", s)
	}
	*t = truth(v)
	return nil
}

func (c *objects) addBlock(h *kept.Head, raw json.RawMessage) error {
	var o blockSpec
	if err := kept.SpecOf(raw, &o); err != nil {
		return err
	}
	c.sawCalico(h)
	return c.putBlock(h, o)
}

// putBlock checks what everything else relies on: where the block lies, and that
// it has an entry for each of its addresses.
func (c *objects) putBlock(h *kept.Head, b blockSpec) error {
	p, err := netip.ParsePrefix(b.CIDR)
	switch {
	case err != nil || p.Masked() != p:
		return h.Fail("spec.cidr", "%q is no CIDR of a block", b.CIDR)
	case p.Addr().BitLen()-p.Bits() > 16:
		return h.Fail("spec.cidr", "%s is not a block: a block has at most 65536 addresses", p)
	case len(b.Allocations) != 1<<(p.Addr().BitLen()-p.Bits()):
		return h.Fail("spec.allocations", "%d entries, a block %s has %d addresses", len(b.Allocations), p, 1<<(p.Addr().BitLen()-p.Bits()))
	}
	for i, a := range b.Allocations {
		if a != nil && (*a < 0 || *a >= len(b.Attributes)) {
			return h.Fail(fmt.Sprintf("spec.allocations[%d]", i), "there are no attributes %d, only %d", *a, len(b.Attributes))
		}
	}
	for i, a := range b.Attributes {
		for k, v := range a.Secondary {
			delete(a.Secondary, k)
			a.Secondary[c.Word(k)] = c.Word(v)
		}
		b.Attributes[i] = a
	}
	return kept.Put(c.Store, c.blocks, p.String(), h, b)
}

type affinitySpec struct {
	State   string `json:"state"`
	Node    string `json:"node"`
	Type    string `json:"type,omitempty"`
	CIDR    string `json:"cidr"`
	Deleted truth  `json:"-"`
}

func (c *objects) addAffinity(h *kept.Head, raw json.RawMessage) error {
	var o struct {
		Spec struct {
			affinitySpec
			Deleted truth `json:"deleted"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	a := o.Spec.affinitySpec
	a.Deleted = o.Spec.Deleted
	c.sawCalico(h)
	return c.putAffinity(h, a)
}

func (c *objects) putAffinity(h *kept.Head, a affinitySpec) error {
	p, err := netip.ParsePrefix(a.CIDR)
	if err != nil || p.Masked() != p {
		return h.Fail("spec.cidr", "%q is no CIDR of a block", a.CIDR)
	}
	if a.Node == "" {
		return h.Fail("spec.node", "missing")
	}
	if a.Type == "" {
		a.Type = "host"
	}
	return kept.Put(c.Store, c.affinities, a.Type+":"+a.Node+" "+p.String(), h, a)
}

type handleSpec struct {
	HandleID string         `json:"handleID"`
	Block    map[string]int `json:"block"`
	Deleted  truth          `json:"deleted,omitempty"`
}

func (c *objects) addHandle(h *kept.Head, raw json.RawMessage) error {
	var o handleSpec
	if err := kept.SpecOf(raw, &o); err != nil {
		return err
	}
	if o.HandleID == "" {
		return h.Fail("spec.handleID", "missing")
	}
	c.sawCalico(h)
	return kept.Put(c.Store, c.handles, o.HandleID, h, o)
}

type configSpec struct {
	StrictAffinity     bool `json:"strictAffinity"`
	AutoAllocateBlocks bool `json:"autoAllocateBlocks"`
	MaxBlocksPerHost   int  `json:"maxBlocksPerHost,omitempty"`
}

// addConfig reads IPAMConfig, and IPAMConfiguration, which has its own default.
//
// Source: api/pkg/apis/projectcalico/v3, IPAMConfigurationSpec (v3.31).
func (c *objects) addConfig(h *kept.Head, raw json.RawMessage) error {
	var o configSpec
	o.AutoAllocateBlocks = h.Kind == "IPAMConfiguration"
	if err := kept.SpecOf(raw, &o); err != nil {
		return err
	}
	if h.Metadata.Name != "default" {
		c.Ignore(h.Kind + " that is not called default")
		return nil
	}
	c.sawCalico(h)
	return kept.Put(c.Store, c.config, "default", h, o)
}

func (c *objects) addControllers(h *kept.Head, raw json.RawMessage) error {
	var o struct {
		Spec struct {
			Controllers struct {
				Node struct {
					LeakGracePeriod string `json:"leakGracePeriod"`
				} `json:"node"`
			} `json:"controllers"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	if o.Spec.Controllers.Node.LeakGracePeriod == "" {
		return nil
	}
	return kept.Put(c.Store, c.controllers, h.Metadata.Name, h, o.Spec.Controllers.Node.LeakGracePeriod)
}
