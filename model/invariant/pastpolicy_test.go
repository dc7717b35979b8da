package invariant

import (
	"net/netip"
	"slices"
	"testing"

	"ipamsim/model"
)

// A policy in an object changes while pods run: an address is correct if the policy that its ADD
// could read allows it.
func TestPolicyChanges(t *testing.T) {
	calmPast := func() *View {
		v := calm()
		v.Past = &Past{}
		v.Past.Note(*v)
		return v
	}
	ranges := func(all []model.Range) func(*View) {
		return func(v *View) {
			v.Networks = slices.Clone(v.Networks) // as Observe returns them: the past has the others
			v.Networks[2].Ranges = all
		}
	}
	exclude := ranges(within("10.0.0.0/28", "10.0.0.1", "10.0.0.14", cidr("10.0.0.4/30")))
	shrink := ranges(within("10.0.0.0/28", "10.0.0.8", "10.0.0.14"))
	undo := ranges(within("10.0.0.0/28", "10.0.0.1", "10.0.0.14"))
	begin := func(v *View) {
		v.History.Add(model.Event{Kind: model.AddBegin, At: v.Truth.At, Container: "c9", Interface: "net1"})
	}
	get := func(v *View) { start(v, "9", "node-1", "c9", netC, "10.0.0.5").Attachments[0].Since = v.Truth.At }
	tableOf(t, calmPast, ExcludedAddress, []row{
		{"excluded", func(v *View) { steps(v, exclude, begin, get) },
			"default/web-9 on node-1 has 10.0.0.5 since 1m3s, which network default/c excludes (10.0.0.4/30)"},
		{"from the start", func(v *View) { exclude(v); v.Past = &Past{}; steps(v, begin, begin, get) },
			"default/web-9 on node-1 has 10.0.0.5 since 1m3s, which network default/c excludes (10.0.0.4/30)"},
		{"no past", func(v *View) { steps(v, begin, get, exclude); v.Past = nil },
			"default/web-9 on node-1 has 10.0.0.5 since 1m2s, which network default/c excludes (10.0.0.4/30)"},

		{"excluded afterwards", func(v *View) { steps(v, begin, get, exclude) }, ""},
		{"an ADD that had begun", func(v *View) { steps(v, begin, exclude, get) }, ""},
		{"excluded no more", func(v *View) { steps(v, exclude, undo, begin, get) }, ""},
	})
	tableOf(t, calmPast, OutOfPool, []row{
		{"outside", func(v *View) { steps(v, shrink, begin, get) },
			"default/web-9 on node-1 has 10.0.0.5 since 1m3s, outside every range of network default/c"},
		{"never inside", func(v *View) {
			steps(v, func(v *View) { start(v, "9", "node-1", "c9", netC, "10.7.0.1") }, shrink)
		}, "default/web-9 on node-1 has 10.7.0.1 since 10s, outside every range of network default/c"},

		{"outside afterwards", func(v *View) { steps(v, begin, get, shrink) }, ""},
		{"an ADD that had begun", func(v *View) { steps(v, begin, shrink, get) }, ""},
	})
}

// A policy is remembered when it changes, and not at every view.
func TestPoliciesAreFew(t *testing.T) {
	v := calm()
	v.Past = &Past{}
	for range 5 {
		v.Past.Note(*v)
	}
	v.Networks[2].Ranges[0].Exclude = []netip.Prefix{cidr("10.0.0.4/30")}
	v.Past.Note(*v)
	if n := len(v.Past.policies[netA]); n != 1 {
		t.Errorf("%d policies of a network that never changes", n)
	}
	if n := len(v.Past.policies[netC]); n != 2 {
		t.Errorf("%d policies of one that changed once", n)
	}
}
