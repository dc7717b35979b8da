// Package whereabouts has the known races of Whereabouts for answers of plans.
package whereabouts

import (
	"slices"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/reports/answer"
)

// Answers configures answers for Whereabouts. It minimises leaked addresses.
var Answers = answer.Manager{Minimise: "leaked", Changes: changes}

var changes = []answer.Known{
	{Change: answer.PassesOftener, Words: "runs the reconciler more often", Made: answer.Oftener, Rows: []answer.Follows{
		{Scenario: "r1-whereabouts-162"}, {Scenario: "whereabouts-110-scale"}, {Scenario: "whereabouts-485-partition"}, {Scenario: "found-failed-refetch-frees"},
		{Scenario: "whereabouts-207-overlap", Of: guards}, {Scenario: "found-named-reservations-wiped", Of: network(func(n *model.Network) bool { return n.Overlap && n.Name != "" })},
		{Scenario: "found-address-that-ends-in-colons", Of: network(func(n *model.Network) bool { return n.Overlap && slices.ContainsFunc(n.Ranges, v6) })},
	}},
	{Change: answer.SlicesOn, Words: "switches node slices on", Made: switched(sliced), Rows: []answer.Follows{
		{Scenario: "found-node-slice-panic"}, {Scenario: "found-slice-of-replaced-node"}, {Scenario: "found-control-loop-knows-no-slices"},
		{Scenario: "found-slices-ignore-exclude", Of: network(func(n *model.Network) bool { return slices.ContainsFunc(n.Ranges, excludes) })},
		{Scenario: "found-slices-of-two-networks", Of: func(c *capacity.Cluster) bool { return len(c.Networks) > 1 }}, {Scenario: "found-slices-of-a-list"},
	}},
	{Change: answer.OverlapOn, Words: "switches overlapping ranges on", Made: switched(guarded), Rows: []answer.Follows{
		{Scenario: "found-low-addresses-held", Of: guards}, {Scenario: "found-dual-stack-del-stops", Of: network(func(n *model.Network) bool { return n.Overlap && len(n.Ranges) > 1 })},
	}},
}

func sliced(n *model.Network) bool  { return n.Slice > 0 }
func guarded(n *model.Network) bool { return n.Overlap }
func v6(r model.Range) bool         { return r.Prefix.Addr().Is6() }
func excludes(r model.Range) bool   { return len(r.Exclude) > 0 }

// network returns a predicate that holds if any network satisfies is.
func network(is func(*model.Network) bool) func(*capacity.Cluster) bool {
	return func(c *capacity.Cluster) bool {
		return slices.ContainsFunc(c.Networks, func(n model.Network) bool { return is(&n) })
	}
}

// switched returns a predicate that holds if a network of then satisfies is and none of now does.
func switched(is func(*model.Network) bool) func(now, then *capacity.Cluster) bool {
	return func(now, then *capacity.Cluster) bool { return !network(is)(now) && network(is)(then) }
}

// guards reports whether two networks with guarded ranges may hand out the same address.
func guards(c *capacity.Cluster) bool {
	for i, a := range c.Networks {
		for _, b := range c.Networks[:i] {
			if a.Overlap && b.Overlap && overlap(a.Ranges, b.Ranges) {
				return true
			}
		}
	}
	return false
}

func overlap(a, b []model.Range) bool {
	return slices.ContainsFunc(a, func(x model.Range) bool {
		return slices.ContainsFunc(b, func(y model.Range) bool { return x.Prefix.Overlaps(y.Prefix) })
	})
}
