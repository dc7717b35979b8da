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

// Error is the real type, except that Print prints nothing: a program that could not even read its
// arguments.
type Error real.Error

// Print says nothing.
func (*Error) Print() error { return nil }

// PrintResult prints a result in the format of a version of CNI, on the program's standard output.
//
// Source: github.com/containernetworking/cni/pkg/types, PrintResult (v1.3.0).
func PrintResult(r Result, version string) error {
	r, err := r.GetAsVersion(version)
	if err != nil {
		return err
	}
	return r.PrintTo(os.Stdout)
}
