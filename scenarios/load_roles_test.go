package scenarios

import (
	"testing"

	"go.yaml.in/yaml/v3"

	"ipamsim/scenarios/strict"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/ipam"
)

// The tables that are written down here agree with what they are about.

// What a manager runs, once it is open, is what it says and a scenario may name.
func TestProcessesRun(t *testing.T) {
	in, err := All.Find("whereabouts").Open(ipam.Env{})
	if err != nil {
		t.Fatal(err)
	}
	for _, manager := range []string{"whereabouts", "calico+whereabouts"} {
		m := All.Find(manager)
		for name := range in.Run {
			if _, ok := m.Process(name); !ok {
				t.Errorf("%s runs %s, and does not say so", manager, name)
			}
		}
	}
	for _, name := range processes(All.Find("whereabouts"), func(ipam.Process) bool { return true }) {
		if in.Run[name] == nil {
			t.Errorf("whereabouts has %s, and does not run it", name)
		}
	}
}

func TestEveryKindHasAType(t *testing.T) {
	for _, a := range All {
		name := a.Name
		kinds, err := kindsOf(a)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range kinds {
			if v.apiVersion == "" {
				t.Errorf("%s: the apiVersion of %s is not known: it is missing in typed", name, k)
			}
		}
		for k := range typed {
			if v, ok := kinds[k]; !ok || v.typ == nil {
				t.Errorf("%s: %s is in typed and not served", name, k)
			}
		}
	}
}

// Every action of the timeline is checked: one that is not would let a reference
// to nothing through.
func TestEveryActionIsChecked(t *testing.T) {
	for _, k := range action.All() {
		if k.Name == "apply" {
			continue // its object is checked as a manifest
		}
		l := &loader{s: &Scenario{}, ipam: All.Find("canary")}
		c := &check{doc: &strict.Doc{Root: &yaml.Node{Kind: yaml.MappingNode}}}
		l.acts(c, Event{Action: k.New()}, nil)
		if c.err == nil {
			t.Errorf("an empty %s is accepted", k.Name)
		}
	}
}
