package answer

import (
	"slices"
	"strings"

	"ipamsim/model/capacity/workload"
)

// Manager is what answers know of an address manager: a part of its ipam.Manager. The zero
// value knows nothing.
type Manager struct {
	// Tenants are what gets the addresses; "" is pods.
	Tenants string
	// With are the measures of its own, Without those that mean nothing of it.
	With, Without []string
	// Minimise is the measure that is best if a plan says nothing.
	Minimise string
	// Changes are what options do that known failures follow from, in the order to tell
	// them.
	Changes []Known
	// Step is a step of a migration as an instruction, of the manager's own kinds.
	Step func(*workload.Step) string
}

// measures are those that mean something, as people are told of them.
func (m *Manager) measures() []Measure {
	all := slices.DeleteFunc(Measures(), func(x Measure) bool {
		return slices.Contains(m.Without, x.Name) || x.some && !slices.Contains(m.With, x.Name)
	})
	if m.Tenants == "" {
		return all
	}
	for i := range all {
		x := &all[i]
		x.Title, x.Doc, x.Head, x.words = m.Says(x.Title), m.Says(x.Doc), m.Says(x.Head), m.Says(x.words)
		if x.Unit == Pods {
			x.Unit = Unit(m.Tenants)
		}
	}
	return all
}

// measure is the one of this name, nil if there is none.
func (m *Manager) measure(name string) *Measure {
	all := m.measures()
	if i := slices.IndexFunc(all, func(x Measure) bool { return x.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Says is a text about pods as one about the tenants, whose ADD is their creation.
func (m *Manager) Says(text string) string {
	if m.Tenants == "" {
		return text
	}
	return strings.NewReplacer(
		"bound to a node", "asked for", "Pods", m.Tenants, "pods", m.Tenants, "an ADD", "a request", "ADDs", "requests", "ADD", "request",
		"no address was left that the node may hand out", "no address or no node port was left", "a sandbox", "one",
	).Replace(text)
}
