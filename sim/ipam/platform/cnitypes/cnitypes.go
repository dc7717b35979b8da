// Package cnitypes is CNI's own package types, but for what prints: it prints on the
// program's standard output.
package cnitypes

import (
	real "github.com/containernetworking/cni/pkg/types"

	"ipamsim/sim/ipam/platform/os"
)

// These are the real ones.
type (
	CommonArgs           = real.CommonArgs
	DNS                  = real.DNS
	NetConf              = real.NetConf
	Result               = real.Result
	Route                = real.Route
	IPNet                = real.IPNet
	UnmarshallableString = real.UnmarshallableString
)

// LoadArgs is the real one.
var LoadArgs = real.LoadArgs

// Error is the real one, but for its Print, which says nothing: a program that could
// not even read its arguments.
type Error real.Error

// Print says nothing.
func (*Error) Print() error { return nil }

// PrintResult prints a result as a version of CNI has it.
//
// Source: github.com/containernetworking/cni/pkg/types, PrintResult (v1.3.0).
func PrintResult(r Result, version string) error {
	r, err := r.GetAsVersion(version)
	if err != nil {
		return err
	}
	return r.PrintTo(os.Stdout)
}
