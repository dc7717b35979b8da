package answer

import (
	"slices"
	"strings"

	"ipamsim/model/capacity/workload"
)

// Manager holds an address manager's settings for answers. It is a part of its ipam.Manager.
// The zero value has none.
type Manager struct {
	// Tenants names the objects that get addresses; "" is pods.
	Tenants string
	// With lists its additional measures, Without those that do not apply to it.
	With, Without []string
	// Minimise is the default measure to minimise.
	Minimise string
	// Changes lists the changes that enable known failures, in display order.
	Changes []Known
	// Step renders a migration step of the manager's own kinds as an instruction.
	Step func(*workload.Step) string
}

// measures returns the measures that apply, with the manager's wording.
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

// measure returns the measure of this name, nil if there is none.
func (m *Manager) measure(name string) *Measure {
	all := m.measures()
	if i := slices.IndexFunc(all, func(x Measure) bool { return x.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Says replaces pods and ADDs in a text by the tenants and their requests.
func (m *Manager) Says(text string) string {
	if m.Tenants == "" {
		return text
	}
	return strings.NewReplacer(
		"bound to a node", "asked for", "Pods", m.Tenants, "pods", m.Tenants, "an ADD", "a request", "ADDs", "requests", "ADD", "request",
		"the node had no free address", "no address or no node port was left", "a sandbox", "one",
	).Replace(text)
}
