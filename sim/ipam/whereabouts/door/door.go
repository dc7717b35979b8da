// Package door is what copies of Whereabouts' programs (sim/ipam/whereabouts/copies.txt)
// reach the run through: the API server, their events, their end and their log. The folders
// below have the clientsets, each in the place of a package that has an Interface and a
// NewForConfig.
package door

import (
	"k8s.io/client-go/rest"

	"ipamsim/sim/ipam/platform"
)

// Machine is a process of the run: whoever executes a program puts it into
// platform.Program.
type Machine interface {
	// Config says how to reach the API server: through the gate of the process.
	Config() *rest.Config
}

// config is that of the process that the calling goroutine belongs to.
func config() *rest.Config { return platform.Current().Machine.(Machine).Config() }
