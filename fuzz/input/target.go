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
	// Lists are those of known causes that count for it; what it learns goes to the first.
	Lists []string
	// Draw draws a world from bytes.
	Draw func(world []byte) (*scenarios.Scenario, error)
}

// targets are those of the managers of this program, by name: one for the space of each,
// FuzzPools for pools, and those that stand among a manager's parts.
func targets() map[string]Target {
	out := map[string]Target{}
	for _, m := range scenarios.Used() {
		for _, t := range targetsOf(m) {
			out[t.Name] = t
		}
	}
	return out
}

func targetsOf(m *ipam.Manager) (out []Target) {
	s, ok := ipam.Part[space.Space](m)
	if !ok {
		return nil
	}
	lists := []string{s.Name}
	for _, member := range m.Members {
		if s, ok := ipam.Part[space.Space](scenarios.Used().Find(member)); ok {
			lists = append(lists, s.Name)
		}
	}
	out = append(out, OfSpace(scenarios.Used(), s))
	out[0].Lists = lists
	if t, ok := ipam.Part[Target](m); ok {
		t.Lists = lists
		out = append(out, t)
	}
	return out
}

// TargetOf is the name of the target that draws from a space: FuzzHostLocal from host-local.
func TargetOf(space string) string {
	name := "Fuzz"
	for word := range strings.SplitSeq(space, "-") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// TargetsFor are the names of the targets in which a manager of that name runs, sorted.
func TargetsFor(manager string) (out []string) {
	for _, m := range scenarios.Used() {
		if m.Name != manager && !slices.Contains(m.Members, manager) {
			continue
		}
		for _, t := range targetsOf(m) {
			out = append(out, t.Name)
		}
	}
	slices.Sort(out)
	return out
}

// Lists are those of known causes that count for a target, or all for "".
func Lists(target string) (out []string) {
	all := slices.SortedFunc(maps.Values(targets()), func(a, b Target) int {
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

// Targets lists them.
func Targets() []string { return slices.Sorted(maps.Keys(targets())) }

// CheckTarget is nil for a name of Targets.
func CheckTarget(name string) error {
	if !slices.Contains(Targets(), name) {
		return fmt.Errorf("unknown target %q, want one of %s", name, strings.Join(Targets(), ", "))
	}
	return nil
}

// Choices are bytes from which a world can be drawn.
func Choices(seed uint64) (out []byte) {
	c := space.FromSeed(seed)
	for range 50 {
		out = binary.LittleEndian.AppendUint64(out, c.Uint64())
	}
	return out
}

// OfSpace is the target that draws from a space; what it draws is loaded among these
// managers. Its list is the one of the space's name.
func OfSpace(managers scenarios.Managers, s space.Space) Target {
	return Target{Name: TargetOf(s.Name), Lists: []string{s.Name}, Draw: func(world []byte) (*scenarios.Scenario, error) {
		return s.World(managers, space.FromBytes(world), 1)
	}}
}
