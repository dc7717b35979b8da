package scenarios

import (
	"slices"
	"strings"

	"ipamsim/sim/ipam"
)

// Managers are the address managers that scenario files may name: a file of one's own
// manager is loaded by Managers{mine}.Load("mine.yaml"). A program makes the list, and
// passes it to every search, plan, gate and import; this package links none.
type Managers []*ipam.Manager

// Find is the manager of a name, or nil.
func (m Managers) Find(name string) *ipam.Manager {
	if i := slices.IndexFunc(m, func(x *ipam.Manager) bool { return x.Name == name }); i >= 0 {
		return m[i]
	}
	return nil
}

// Names are those of all, sorted.
func (m Managers) Names() []string {
	var out []string
	for _, x := range m {
		out = append(out, x.Name)
	}
	slices.Sort(out)
	return out
}

// Simulated returns the simulated version of a manager, e.g. v3.31.0; "" if it is not one of them.
func (m Managers) Simulated(name string) string {
	x := m.Find(name)
	if x == nil {
		return ""
	}
	_, version, _ := strings.Cut(x.Upstream, "@")
	return version
}

// Manager is the scenario's address manager.
func (s *Scenario) Manager() *ipam.Manager { return s.managers.Find(s.Doc.Spec.IPAM) }

// Managers are those among which the scenario was loaded: what is made of it is loaded
// among the same.
func (s *Scenario) Managers() Managers { return s.managers }
