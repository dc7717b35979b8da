// Package flag is the command line of a program that is started with no arguments.
package flag

import real "flag"

// FlagSet, ExitOnError and NewFlagSet are Go's own.
type FlagSet = real.FlagSet

const ExitOnError = real.ExitOnError

var NewFlagSet = real.NewFlagSet

// String is a flag's default.
func String(_, value, _ string) *string { return &value }

// BoolVar and StringVar put a flag's default in its place.
func BoolVar(p *bool, _ string, value bool, _ string) { *p = value }
func StringVar(p *string, _, value, _ string)         { *p = value }

// Parse has nothing to do.
func Parse() {}
