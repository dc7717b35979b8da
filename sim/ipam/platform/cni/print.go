package cni

import (
	real "github.com/containernetworking/cni/pkg/types"

	os "ipamsim/sim/ipam/platform/std"
)

// These are the real ones.
type (
	CommonArgs           = real.CommonArgs
	DNS                  = real.DNS
	GCAttachment         = real.GCAttachment
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

// PrintResult prints a result as a version of CNI has it, on the program's standard output.
//
// Source: github.com/containernetworking/cni/pkg/types, PrintResult (v1.3.0).
func PrintResult(r Result, version string) error {
	r, err := r.GetAsVersion(version)
	if err != nil {
		return err
	}
	return r.PrintTo(os.Stdout)
}
