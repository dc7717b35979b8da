package input

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
)

// targets are the native fuzz targets whose inputs are runs, by name, each with
// what draws a world from bytes.
var targets = map[string]func(world []byte) (*scenarios.Scenario, error){
	"FuzzCalico":      drawn("calico"),
	"FuzzMixed":       drawn("mixed"),
	"FuzzReconcilers": reconciled,
	"FuzzWhereabouts": drawn("whereabouts"),
}

// Targets lists them.
func Targets() []string {
	var out []string
	for name := range targets {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// CheckTarget is nil for a name of Targets.
func CheckTarget(name string) error {
	if targets[name] == nil {
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

// drawn makes a world of a space from the bytes that are its choices.
func drawn(name string) func([]byte) (*scenarios.Scenario, error) {
	return func(world []byte) (*scenarios.Scenario, error) {
		return space.DrawFrom(name, space.FromBytes(world), 1)
	}
}
