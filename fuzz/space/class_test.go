package space

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/longtest"
)

// Of a thousand worlds, at least the specified shares have no operator action, and neither fault
// nor crash. Some worlds have actions of each class.
func TestSharesOfWorlds(t *testing.T) {
	longtest.Skip(t)
	const worlds = 1000
	for _, name := range Names(All) {
		var drawn, all Tally
		for seed := range uint64(worlds) {
			s, err := Draw(All, name, seed)
			if err != nil {
				t.Fatal(err)
			}
			free, has := spared(FromSeed(seed)), ClassesOf(&s.Doc.Spec)
			for _, d := range free {
				if slices.Contains(has, d) {
					t.Errorf("%s %d: %s can happen, in a world that is to go without", name, seed, d)
				}
			}
			drawn.Add(slices.DeleteFunc(Classes(), func(d model.Class) bool { return slices.Contains(free, d) }))
			all.Add(has)
		}
		for d, share := range map[model.Class]uint64{model.OperatorAction: Unattended, model.InjectedFault: Unhurt, model.Crash: Unhurt, model.ForcedDeletion: 0} {
			if n := drawn.Without[d] * 100; n < (share-min(share, 3))*worlds || n > (share+3)*worlds {
				t.Errorf("%s: %d of %d worlds are to go without %s, want about %d %%", name, drawn.Without[d], worlds, d, share)
			}
			if d == model.ForcedDeletion && spaces(All)[name].Forceless {
				if all.Without[d] < worlds {
					t.Errorf("%s: pods are deleted by force", name)
				}
				continue
			}
			if n := all.Without[d]; n < drawn.Without[d] || n > worlds*19/20 {
				t.Errorf("%s: %d of %d worlds go without %s, want %d at least, and some that have it", name, n, worlds, d, drawn.Without[d])
			}
		}
		t.Logf("%s: %+v", name, all)
	}
}

// A world without a class of actions has none of it, and is otherwise the same.
func TestWithout(t *testing.T) {
	longtest.Skip(t)
	for _, name := range Names(All) {
		less := map[model.Class]int{}
		for seed := range uint64(80) {
			whole, err := Draw(All, name, seed)
			if err != nil {
				t.Fatal(err)
			}
			had := ClassesOf(&whole.Doc.Spec)
			for _, d := range Classes() {
				s, err := Draw(All, name, seed, d)
				if err != nil {
					t.Fatalf("%s %d without %s: %v", name, seed, d, err)
				}
				if slices.Contains(had, d) {
					less[d]++
				}
				want := slices.DeleteFunc(slices.Clone(had), func(x model.Class) bool { return x == d })
				if has := ClassesOf(&s.Doc.Spec); !slices.Equal(has, want) {
					t.Errorf("%s %d without %s: %v, want %v", name, seed, d, has, want)
				}
				if a, b := rest(t, whole), rest(t, s); a != b {
					t.Errorf("%s %d without %s is another world:\n%s\n%s", name, seed, d, a, b)
				}
			}
		}
		for _, d := range Classes() {
			if less[d] == 0 && !(d == model.ForcedDeletion && spaces(All)[name].Forceless) {
				t.Errorf("%s: no world has %s", name, d)
			}
		}
	}
}

// rest returns all of a world that does not depend on the classes.
func rest(t *testing.T, s *scenarios.Scenario) string {
	spec := s.Doc.Spec
	spec.Title, spec.Timeline, spec.Faults, spec.Hazards = "", nil, scenarios.Faults{}, scenarios.Hazards{}
	spec.Churn = slices.Clone(spec.Churn)
	for i := range spec.Churn {
		spec.Churn[i].Force = 0
	}
	b, err := json.Marshal([]any{spec, s.Objects})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// In worlds without operator actions, Services are still created and deleted and change their type,
// but do not request a certain address or family later.
func TestServicesLiveInCalmWorlds(t *testing.T) {
	const worlds = 300
	for _, name := range []string{"calico-lb", "metallb", "services"} {
		had := map[string]int{}
		for seed := range uint64(worlds) {
			s, err := Draw(All, name, seed, Classes()...)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range s.Doc.Spec.Timeline {
				kind := e.Kind()
				switch a := e.Action.(type) {
				case *action.Command:
					kind = strings.Fields(a.Run)[2]
				case *action.Patch:
					if a.Merge["metadata"] != nil {
						t.Errorf("%s %d: %v", name, seed, a)
					}
				}
				had[kind]++
			}
			if got := ClassesOf(&s.Doc.Spec); len(got) > 0 {
				t.Errorf("%s %d: %v", name, seed, got)
			}
		}
		t.Logf("%s: %v", name, had)
		if had["apply"]+had["create"] < 3*worlds || had["delete"] < worlds/3 || had["patch"] < worlds/5 {
			t.Errorf("%s: %v in %d worlds", name, had, worlds)
		}
	}
}

func TestParseClasses(t *testing.T) {
	got, err := ParseClasses([]string{"crash", "operator", "crash"})
	if err != nil || !slices.Equal(got, []model.Class{model.OperatorAction, model.Crash}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := ParseClasses([]string{"rain"}); err == nil || !strings.Contains(err.Error(), `"rain", want some of operator, force, fault, crash`) {
		t.Errorf("%v", err)
	}
}
