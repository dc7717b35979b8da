package space

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ipamsim/scenarios"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/hazard"
	"ipamsim/sim/longtest"
)

// Of every action of a timeline and every hazard somebody has decided whether it is a
// deed, and which.
func TestEveryActionIsADeedOrNone(t *testing.T) {
	names := hazard.Kinds()
	action := reflect.TypeFor[cluster.Action]()
	for f := range reflect.TypeFor[scenarios.Event]().Fields() {
		if f.Type.Implements(action) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	for _, n := range names {
		if _, ok := ofAction[n]; !ok {
			t.Errorf("%s: nobody says what kind of deed it is", n)
		}
	}
	for n := range ofAction {
		if !slices.Contains(names, n) {
			t.Errorf("%s is neither an action nor a hazard", n)
		}
	}
}

// Of a thousand worlds the stated shares have no operator's deed, and neither fault
// nor crash, whatever else was drawn; and of each kind there are worlds that have it.
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
			free, has := spared(FromSeed(seed)), DeedsOf(&s.Doc.Spec)
			for _, d := range free {
				if slices.Contains(has, d) {
					t.Errorf("%s %d: %s can happen, in a world that is to go without", name, seed, d)
				}
			}
			drawn.Add(slices.DeleteFunc(Deeds(), func(d Deed) bool { return slices.Contains(free, d) }))
			all.Add(has)
		}
		for d, share := range map[Deed]uint64{Operator: Unattended, Fault: Unhurt, Crash: Unhurt, Force: 0} {
			if n := drawn.Without[d] * 100; n < (share-min(share, 3))*worlds || n > (share+3)*worlds {
				t.Errorf("%s: %d of %d worlds are to go without %s, want about %d %%", name, drawn.Without[d], worlds, d, share)
			}
			if d == Force && spaces(All)[name].Forceless {
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

// A world without a kind of deed has none of it, and is the same otherwise.
func TestWithout(t *testing.T) {
	longtest.Skip(t)
	for _, name := range Names(All) {
		less := map[Deed]int{}
		for seed := range uint64(80) {
			whole, err := Draw(All, name, seed)
			if err != nil {
				t.Fatal(err)
			}
			had := DeedsOf(&whole.Doc.Spec)
			for _, d := range Deeds() {
				s, err := Draw(All, name, seed, d)
				if err != nil {
					t.Fatalf("%s %d without %s: %v", name, seed, d, err)
				}
				if slices.Contains(had, d) {
					less[d]++
				}
				want := slices.DeleteFunc(slices.Clone(had), func(x Deed) bool { return x == d })
				if has := DeedsOf(&s.Doc.Spec); !slices.Equal(has, want) {
					t.Errorf("%s %d without %s: %v, want %v", name, seed, d, has, want)
				}
				if a, b := rest(t, whole), rest(t, s); a != b {
					t.Errorf("%s %d without %s is another world:\n%s\n%s", name, seed, d, a, b)
				}
			}
		}
		for _, d := range Deeds() {
			if less[d] == 0 && !(d == Force && spaces(All)[name].Forceless) {
				t.Errorf("%s: no world has %s", name, d)
			}
		}
	}
}

// rest of a world: all but what deeds are made of.
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

// Where nobody does anything out of the ordinary, Services still come, go and become
// another type; nobody asks for a certain address or family later.
func TestServicesLiveInCalmWorlds(t *testing.T) {
	const worlds = 300
	for _, name := range []string{"calico-lb", "metallb", "services"} {
		had := map[string]int{}
		for seed := range uint64(worlds) {
			s, err := Draw(All, name, seed, Deeds()...)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range s.Doc.Spec.Timeline {
				kind := e.Kind()
				if e.Command != nil {
					kind = strings.Fields(e.Command.Run)[2]
				}
				had[kind]++
				if e.Patch != nil && e.Patch.Merge["metadata"] != nil {
					t.Errorf("%s %d: %v", name, seed, e.Patch)
				}
			}
			if got := DeedsOf(&s.Doc.Spec); len(got) > 0 {
				t.Errorf("%s %d: %v", name, seed, got)
			}
		}
		t.Logf("%s: %v", name, had)
		if had["apply"]+had["create"] < 3*worlds || had["delete"] < worlds/3 || had["patch"] < worlds/5 {
			t.Errorf("%s: %v in %d worlds", name, had, worlds)
		}
	}
}

func TestParseDeeds(t *testing.T) {
	got, err := ParseDeeds([]string{"crash", "operator", "crash"})
	if err != nil || !slices.Equal(got, []Deed{Operator, Crash}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := ParseDeeds([]string{"rain"}); err == nil || !strings.Contains(err.Error(), `"rain", want some of operator, force, fault, crash`) {
		t.Errorf("%v", err)
	}
}
