package whereabouts

import (
	"encoding/json"
	"net/netip"
	"strconv"
	"strings"

	"ipamsim/scenarios/dump/kept"
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

func (c *objects) addRangePool(h *kept.Head, raw json.RawMessage) error {
	var o rangePool
	if err := kept.SpecOf(raw, &o); err != nil {
		return err
	}
	if _, err := netip.ParsePrefix(o.Range); err != nil {
		return h.Fail("spec.range", "%q is no CIDR", o.Range)
	}
	for k := range o.Allocations {
		if _, err := strconv.ParseUint(k, 10, 64); err != nil {
			return h.Fail("spec.allocations", "%q: want the distance from the first address of the range", k)
		}
	}
	if o.Allocations == nil {
		o.Allocations = map[string]allocation{}
	}
	return kept.Put(c.Store, c.rangePools, h.Key(), h, o)
}

type rangeReservation struct {
	ContainerID string `json:"containerid,omitempty"`
	PodRef      string `json:"podref"`
	IfName      string `json:"ifname,omitempty"`
}

func (c *objects) addRangeReservation(h *kept.Head, raw json.RawMessage) error {
	var o rangeReservation
	if err := kept.SpecOf(raw, &o); err != nil {
		return err
	}
	return kept.Put(c.Store, c.rangeReserved, h.Key(), h, o)
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

func (c *objects) addSlicePool(h *kept.Head, raw json.RawMessage) error {
	var o slicePool
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	return kept.Put(c.Store, c.slicePools, h.Key(), h, o)
}

// addCronJob keeps the CronJob with which Whereabouts before 0.6.3 ran its
// reconciler, and no other.
func (c *objects) addCronJob(h *kept.Head, raw json.RawMessage) (taken bool, err error) {
	type container struct{ Command, Args []string }
	var o struct {
		Spec struct {
			Schedule          string `json:"schedule"`
			ConcurrencyPolicy string `json:"concurrencyPolicy,omitempty"`
			Suspend           bool   `json:"suspend,omitempty"`
			JobTemplate       struct {
				Spec struct {
					Template struct {
						Spec struct{ Containers []container } `json:"spec"`
					} `json:"template"`
				} `json:"spec"`
			} `json:"jobTemplate"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return false, err
	}
	runs := false
	for _, x := range o.Spec.JobTemplate.Spec.Template.Spec.Containers {
		runs = runs || strings.Contains(strings.Join(append(x.Command, x.Args...), " "), reconcilerName)
	}
	if !runs || o.Spec.Suspend {
		return false, nil
	}
	schedule, err := json.Marshal(o.Spec.Schedule)
	if err != nil {
		return false, err
	}
	return true, kept.Put(c.Store, c.cronJobs, h.Key(), h, schedule)
}

// reconcilerName is what its command is called.
const reconcilerName = "ip-reconciler"
