// Package adapter connects copies of Whereabouts' programs (sim/ipam/whereabouts/copies.txt)
// to the run: the API server, events, signals and the log. The folders below have the
// clientsets; each replaces a package with an Interface and a NewForConfig.
package adapter

import (
	"k8s.io/client-go/rest"

	"ipamsim/sim/ipam/platform"
)

// Machine is a process of the run. The code that executes a program sets
// platform.Program.Machine.
type Machine interface {
	// Config returns a configuration of the API server with the process's gate.
	Config() *rest.Config
}

// config returns the configuration of the calling goroutine's process.
func config() *rest.Config { return platform.Current().Machine.(Machine).Config() }
