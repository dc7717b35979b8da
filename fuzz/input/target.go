package input

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
	"ipamsim/sim/ipam"
)

// Target is a native fuzz target whose inputs are runs.
type Target struct {
	Name string // as in FuzzPools
	// Lists are the names of the lists of known causes; new causes are added to the first one.
	Lists []string
	// Draw generates a scenario from bytes, and loads it for the managers.
	Draw func(managers scenarios.Managers, world []byte) (*scenarios.Scenario, error)
}

// targets returns the targets of the managers, by name: one for the space of each manager, FuzzPools for
// pools, and those among a manager's parts.
func targets(managers scenarios.Managers) map[string]Target {
	out := map[string]Target{}
	for _, m := range managers {
		for _, t := range targetsOf(managers, m) {
			out[t.Name] = t
		}
	}
	return out
}

func targetsOf(managers scenarios.Managers, m *ipam.Manager) (out []Target) {
	s, ok := ipam.Part[space.Space](m)
	if !ok {
		return nil
	}
	lists := []string{s.Name}
	for _, member := range m.Members {
		if s, ok := ipam.Part[space.Space](managers.Find(member)); ok {
			lists = append(lists, s.Name)
		}
	}
	out = append(out, OfSpace(s))
	out[0].Lists = lists
	if t, ok := ipam.Part[Target](m); ok {
		t.Lists = lists
		out = append(out, t)
	}
	return out
}

// TargetOf returns the name of the target for a space: FuzzHostLocal for host-local.
func TargetOf(space string) string {
	name := "Fuzz"
	for word := range strings.SplitSeq(space, "-") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// TargetsFor returns the names of the targets in which a manager runs, sorted.
func TargetsFor(managers scenarios.Managers, manager string) (out []string) {
	for _, m := range managers {
		if m.Name != manager && !slices.Contains(m.Members, manager) {
			continue
		}
		for _, t := range targetsOf(managers, m) {
			out = append(out, t.Name)
		}
	}
	slices.Sort(out)
	return out
}

// Lists returns the lists of known causes for a target, or all lists for "".
func Lists(managers scenarios.Managers, target string) (out []string) {
	all := slices.SortedFunc(maps.Values(targets(managers)), func(a, b Target) int {
		return cmp.Or(cmp.Compare(len(b.Lists), len(a.Lists)), cmp.Compare(a.Name, b.Name))
	})
	for _, t := range all {
		for _, list := range t.Lists {
			if (target == "" || target == t.Name) && !slices.Contains(out, list) {
				out = append(out, list)
			}
		}
	}
	return out
}

// ListsFor returns all lists, beginning with those for a manager's targets.
func ListsFor(managers scenarios.Managers, manager string) (out []string) {
	for _, target := range append(TargetsFor(managers, manager), "") {
		for _, list := range Lists(managers, target) {
			if !slices.Contains(out, list) {
				out = append(out, list)
			}
		}
	}
	return out
}

// Targets returns the names of the managers' targets, sorted.
func Targets(managers scenarios.Managers) []string {
	return slices.Sorted(maps.Keys(targets(managers)))
}

// CheckTarget returns an error for a name that is not in Targets.
func CheckTarget(managers scenarios.Managers, name string) error {
	if all := Targets(managers); !slices.Contains(all, name) {
		return fmt.Errorf("unknown target %q, want one of %s", name, strings.Join(all, ", "))
	}
	return nil
}

// Choices returns bytes from which a scenario can be generated.
func Choices(seed uint64) (out []byte) {
	c := space.FromSeed(seed)
	for range 50 {
		out = binary.LittleEndian.AppendUint64(out, c.Uint64())
	}
	return out
}

// OfSpace returns the target that generates scenarios from a space. Its list has the space's name.
func OfSpace(s space.Space) Target {
	return Target{Name: TargetOf(s.Name), Lists: []string{s.Name}, Draw: func(managers scenarios.Managers, world []byte) (*scenarios.Scenario, error) {
		return s.World(managers, space.FromBytes(world), 1)
	}}
}
