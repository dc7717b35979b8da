package scenarios

import (
	"sync"

	"ipamsim/sim/ipam/calico"
	"ipamsim/sim/ipam/canary"
	"ipamsim/sim/ipam/mixed"
	"ipamsim/sim/ipam/whereabouts"
)

var builtin = sync.OnceValue(func() Managers {
	c, w := calico.New(), whereabouts.New()
	return Managers{c, canary.New(), w, mixed.New(c, w)}
})

// Load is Managers.Load among the built-in ones.
func Load(path string) (*Scenario, error) { return builtin().Load(path) }

// Parse is Managers.Parse among the built-in ones.
func Parse(file string, data []byte) (*Scenario, error) { return builtin().Parse(file, data) }

// ReadSheet is Managers.ReadSheet among the built-in ones.
func ReadSheet(file string, data []byte, kind string) (*Sheet, error) {
	return builtin().ReadSheet(file, data, kind)
}

// Simulated is Managers.Simulated among the built-in ones.
func Simulated(name string) string { return builtin().Simulated(name) }
