// Package cni replaces the packages of CNI by which a plugin uses its machine: its frame (skel),
// its types, and the execution of other plugins. They are the real ones, except for the environment
// and the streams of a program.
package cni

import (
	"encoding/json"
	"fmt"
	"io"
	_ "unsafe" // for linkname

	real "github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/version"

	os "ipamsim/sim/ipam/platform/std"
)

// CmdArgs and CNIFuncs are the real ones.
type (
	CmdArgs  = real.CmdArgs
	CNIFuncs = real.CNIFuncs
)

// dispatcher has the fields of the real one, which is made nowhere but with the
// environment of the real process.
//
// Source: github.com/containernetworking/cni/pkg/skel, dispatcher (v1.3.0).
type dispatcher struct {
	Getenv             func(string) string
	Stdin              io.Reader
	Stdout             io.Writer
	Stderr             io.Writer
	ConfVersionDecoder version.ConfigDecoder
	VersionReconciler  version.Reconciler
}

//go:linkname pluginMain github.com/containernetworking/cni/pkg/skel.(*dispatcher).pluginMain
func pluginMain(*dispatcher, real.CNIFuncs, version.PluginInfo, string) *types.Error

// PluginMainFuncs runs a plugin's function, and ends the program if it fails.
func PluginMainFuncs(funcs CNIFuncs, v version.PluginInfo, about string) {
	d := &dispatcher{Getenv: os.Getenv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	e := pluginMain(d, funcs, v, about)
	if e == nil {
		return
	}
	b, err := json.MarshalIndent(e, "", "    ")
	if err != nil {
		panic(err) // a number and two texts
	}
	fmt.Fprintf(os.Stdout, "%s", b)
	os.Exit(1)
}
