package model_test

import (
	"net/netip"
	"testing"

	"ipamsim/model"
)

// Which situations have the same state and which do not.
func TestState(t *testing.T) {
	world := func(pod, addr string, claimed bool, phase bool) uint64 {
		a := netip.MustParseAddr(addr)
		ref := model.PodRef{Namespace: "default", Name: pod}
		truth := model.Truth{
			Pods:  map[model.PodRef]model.Pod{ref: {Deleting: phase}},
			Nodes: map[string]model.Node{"n": {Up: true, Registered: true}},
			Sandboxes: []model.Sandbox{{
				ID: "id-" + pod, Pod: ref, Node: "n", Attachments: []model.Attachment{{Addrs: []netip.Addr{a}}},
			}},
		}
		record := model.Snapshot{Pools: []model.Pool{{Name: "p"}}}
		if claimed {
			record.Claims = []model.Claim{{Pool: "p", Addr: a, Pod: ref, Container: "id-" + pod}}
		}
		return model.State(truth, record)
	}
	one := world("web-0", "10.0.0.1", true, false)
	if other := world("db-7", "10.0.0.9", true, false); other != one {
		t.Errorf("other names are another state")
	}
	for what, s := range map[string]uint64{
		"without its claim": world("web-0", "10.0.0.1", false, false),
		"being deleted":     world("web-0", "10.0.0.1", true, true),
	} {
		if s == one {
			t.Errorf("a sandbox %s is the same state as an ordinary one", what)
		}
	}
}
