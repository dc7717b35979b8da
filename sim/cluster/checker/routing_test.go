package checker

import (
	"testing"

	"ipamsim/model"
	"ipamsim/model/route"
	"ipamsim/sim/cluster/recorder"
)

// One reflector suffices to spread routes. A reflector without power, or whose BIRD does not run,
// does not spread them. Without reflectors nodes spread them directly.
func TestReflected(t *testing.T) {
	on := func(up bool) *recorder.Machine { return &recorder.Machine{Node: model.Node{Up: up}} }
	for _, tt := range []struct {
		name       string
		reflectors []string
		quiet      string
		want       bool
	}{
		{"a mesh", nil, "", true},
		{"the only one is off", []string{"off"}, "", false},
		{"one of two is off", []string{"off", "on"}, "", true},
		{"its BIRD is stopped", []string{"off", "on"}, "on", false},
		{"no machine", []string{"none"}, "", false},
	} {
		c := &Checker{cfg: Config{Fabric: route.Fabric{Reflectors: tt.reflectors}}, routing: &routing{quiet: map[string]bool{tt.quiet: true}}}
		c.machines = map[string]*recorder.Machine{"on": on(true), "off": on(false)}
		if got := c.reflected(); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}
