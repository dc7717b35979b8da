package dump_test

import (
	"net/netip"
	"testing"

	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/scenarios/remedy"
)

// A finding that becomes another kind of break of the same things has not gone, and what
// it has become is new.
func TestAnotherCodeOfTheSame(t *testing.T) {
	lost := func(code string) model.Violation {
		return model.Violation{Invariant: "blackholed-address", Code: code, Objects: []model.Ref{{Kind: model.RefPod, Name: "default/web-0"}}}
	}
	unchanged := func(v model.Violation) *remedy.After {
		before := &scenarios.View{Violations: []model.Violation{v}}
		before.Truth.Sandboxes = []model.Sandbox{{Pod: model.PodRef{Namespace: "default", Name: "web-0"}, Attachments: []model.Attachment{{Addrs: []netip.Addr{netip.MustParseAddr("10.0.0.1")}}}}}
		return &remedy.After{Sight: before, Violations: before.Violations, Last: 1}
	}
	was, is := lost("some-flows-swallowed"), lost("no-route")
	for _, tt := range []struct {
		now              model.Violation
		stays, gone, new int
	}{
		{was, 1, 0, 0},
		{is, 1, 0, 1},
		{model.Violation{Invariant: "other", Objects: was.Objects}, 0, 1, 1},
	} {
		idle := unchanged(was)
		a := &remedy.After{Sight: idle.Sight, Violations: []model.Violation{tt.now}, Last: 1}
		o := remedy.Judge(idle.Sight, idle, &remedy.Problem{Goals: []model.Violation{was}}, &remedy.Remedy{}, a)
		if len(o.Stays) != tt.stays || len(o.Gone) != tt.gone || len(o.New) != tt.new || o.Safe() {
			t.Errorf("%s %s: %d stay, %d gone, %d new, safe: %t; want %d, %d, %d, false", tt.now.Invariant, tt.now.Code, len(o.Stays), len(o.Gone), len(o.New), o.Safe(), tt.stays, tt.gone, tt.new)
		}
	}
}
