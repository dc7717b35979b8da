package scenarios_test

import (
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/space"
	"ipamsim/reports/answer"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/plan"
	"ipamsim/sim/ipam"
	"ipamsim/sim/strategy"
)

// Each manager is found by its name, says which version it is, and opens; whatever hangs
// on it is of a type that a layer asks for, and what draws worlds for it draws its own.
func TestManagers(t *testing.T) {
	for _, m := range managers.All() {
		if managers.All().Find(m.Name) != m || m.Upstream == "" || m.Open == nil || m.Network == nil && m.Primary == nil {
			t.Errorf("%s: two of one name, or something is missing", m.Name)
		}
		for _, member := range m.Members {
			if managers.All().Find(member) == nil {
				t.Errorf("%s: there is no %s", m.Name, member)
			}
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case space.Space, input.Target, []strategy.Share, *diagnosis.Remedies, plan.Manager, answer.Manager:
			case *dump.Importer:
				if p.Title == "" || p.Sign == "" && m.Read != nil || len(p.Resources) == 0 || p.Open == nil {
					t.Errorf("%s: its importer lacks something", m.Name)
				}
			default:
				t.Errorf("%s: nobody asks for a %T", m.Name, p)
			}
		}
		if part, ok := ipam.Part[space.Space](m); ok {
			if s, err := space.Draw(managers.All(), part.Name, 1); err != nil || s.Manager() != m {
				t.Errorf("%s: its space draws another's: %v", m.Name, err)
			}
		}
	}
}
