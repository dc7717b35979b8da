package dump

import (
	"encoding/json"
	"net/netip"
	"strconv"
)

// rangePool is Whereabouts' IPPool. Its allocations' keys are distances from the
// address that the range is written with.
type rangePool struct {
	Range       string                `json:"range"`
	Allocations map[string]allocation `json:"allocations"`
}

type allocation struct {
	ID     string `json:"id"`
	PodRef string `json:"podref"`
	IfName string `json:"ifname,omitempty"`
}

func (c *Cluster) addRangePool(h *head, raw json.RawMessage) error {
	var o rangePool
	if err := specOf(raw, &o); err != nil {
		return err
	}
	if _, err := netip.ParsePrefix(o.Range); err != nil {
		return h.fail("spec.range", "%q is no CIDR", o.Range)
	}
	for k := range o.Allocations {
		if _, err := strconv.ParseUint(k, 10, 64); err != nil {
			return h.fail("spec.allocations", "%q: want the distance from the first address of the range", k)
		}
	}
	if o.Allocations == nil {
		o.Allocations = map[string]allocation{}
	}
	return put(c, c.rangePools, h.key(), h, o)
}

type rangeReservation struct {
	ContainerID string `json:"containerid,omitempty"`
	PodRef      string `json:"podref"`
	IfName      string `json:"ifname,omitempty"`
}

func (c *Cluster) addRangeReservation(h *head, raw json.RawMessage) error {
	var o rangeReservation
	if err := specOf(raw, &o); err != nil {
		return err
	}
	return put(c, c.rangeReserved, h.key(), h, o)
}

type slicePool struct {
	Spec struct {
		Range     string `json:"range"`
		SliceSize string `json:"sliceSize"`
	} `json:"spec"`
	Status struct {
		Allocations []slice `json:"allocations"`
	} `json:"status"`
}

type slice struct {
	NodeName   string `json:"nodeName"`
	SliceRange string `json:"sliceRange"`
}

func (c *Cluster) addSlicePool(h *head, raw json.RawMessage) error {
	var o slicePool
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	return put(c, c.slicePools, h.key(), h, o)
}

// addAttachment keeps the networks that Whereabouts serves.
func (c *Cluster) addAttachment(h *head, raw json.RawMessage) error {
	var o struct {
		Spec struct {
			Config string `json:"config"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	if h.Metadata.Namespace == "" {
		h.Metadata.Namespace = "default"
	}
	if !ofWhereabouts(o.Spec.Config) {
		c.ignored["NetworkAttachmentDefinition of another address manager"]++
		return nil
	}
	return put(c, c.attachments, h.key(), h, o.Spec.Config)
}

func ofWhereabouts(config string) bool {
	type plugin struct {
		IPAM struct {
			Type string `json:"type"`
		} `json:"ipam"`
	}
	var o struct {
		plugin
		Plugins []plugin `json:"plugins"`
	}
	if json.Unmarshal([]byte(config), &o) != nil {
		return false
	}
	for _, p := range append(o.Plugins, o.plugin) {
		if p.IPAM.Type == "whereabouts" {
			return true
		}
	}
	return false
}
