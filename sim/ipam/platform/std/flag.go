package std

// The command line of a program: the flags with which it is started (platform.Program.Flags), which
// its main function declares.

import (
	real "flag"
	"strconv"

	"ipamsim/sim/ipam/platform"
)

// FlagSet, ExitOnError and NewFlagSet are Go's own.
type FlagSet = real.FlagSet

const ExitOnError = real.ExitOnError

var NewFlagSet = real.NewFlagSet

// String is a flag, or its default.
func String(name, value, _ string) *string {
	if v, ok := platform.Current().Flags[name]; ok {
		value = v
	}
	return &value
}

// Bool and Int are like String. An invalid value is a panic; the real functions exit.
func Bool(name string, value bool, _ string) *bool { return parsed(name, value, strconv.ParseBool) }
func Int(name string, value int, _ string) *int    { return parsed(name, value, strconv.Atoi) }

func parsed[T any](name string, value T, parse func(string) (T, error)) *T {
	if text, ok := platform.Current().Flags[name]; ok {
		v, err := parse(text)
		if err != nil {
			panic(err)
		}
		value = v
	}
	return &value
}

// BoolVar and StringVar put a flag's default in its place.
func BoolVar(p *bool, _ string, value bool, _ string) { *p = value }
func StringVar(p *string, _, value, _ string)         { *p = value }

// Parse has nothing to do.
func Parse() {}
