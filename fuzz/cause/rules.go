package cause

import (
	"slices"

	"ipamsim/model"
	"ipamsim/model/invariant"
)

// rules are the cause rules of the invariants (invariant.Invariant.Cause), and follows the
// invariants that each one may follow, by name.
var rules, follows = func() (map[string]invariant.CauseRule, map[string][]string) {
	rules, follows := map[string]invariant.CauseRule{}, map[string][]string{}
	for _, i := range invariant.All() {
		rules[i.Name], follows[i.Name] = i.Cause, i.Follows
	}
	return rules, follows
}()

// code returns the part of Code that identifies the cause, as far as the links do not.
func (c *Cause) code() string {
	rule := rules[c.Invariant]
	switch {
	case rule.Identity.Code != nil:
		return rule.Identity.Code(c.Code)
	case rule.Identity.CodeIfNew && len(c.Links) > 0 && (c.Links[0].Outcome != created || c.has(Freed)):
		return "" // the holder of the address, and the owner of its claim, depend on the schedule
	case rule.Write.Limit && len(c.Links) > 0 && c.Links[0].Manner == unlisted:
		return "" // the process counted no blocks: which blocks exceed the limit does not matter
	}
	return c.Code
}

// has reports whether a link has a role.
func (c *Cause) has(role Role) bool {
	return slices.ContainsFunc(c.Links, func(l Link) bool { return l.Role == role })
}

// concerns reports whether a violation with this rule depends on rows of the given kind.
func concerns(rule invariant.CauseRule, row model.RefKind) bool {
	return row != model.RefReservation && row != model.RefHandle || slices.Contains(rule.Rows, row)
}

// delayed reports whether violations of an invariant appear some time after the mistake.
func delayed(name string) bool { return rules[name].Delayed || invariant.AtRest(name) }
